import { mkdtempSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { followMarket } from "../../../src/chain/market/session.ts";
import { Health } from "../../../src/base/health.ts";
import { storedBytesOf } from "../../../src/runs/storedRuns.ts";
import { first, quiet, reference } from "../../../testkit/players/players.ts";
import { usePlayers } from "../../../testkit/players/usePlayers.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";

const ITEMS = 9;
const program = runProgram();

describe("a worker whose runs take room on disk", function () {
  this.timeout(60_000);
  const players = usePlayers("test");
  let cacheFolder: string;
  beforeEach(() => void (cacheFolder = mkdtempSync(join(tmpdir(), "refute-runs-"))));
  afterEach(() => rmSync(cacheFolder, { recursive: true }));

  const post = (salt: number, items = ITEMS) =>
    players().post(program, runInputBytes(items), { items, salt: `0x${salt.toString(16).padStart(64, "0")}` });

  it("claimsWhatThereIsRoomFor_andSaysWhatIsLacking", async () => {
    const { requester, jobId } = await post(1);
    const { history } = await followMarket(requester)();
    const bytes = storedBytesOf(history.jobs.get(jobId)!);
    const lines: { msg: string; condition?: string; reason?: string }[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    const health = new Health(log);
    let rounds = 0;
    const options = { cacheFolder, storedBytes: 2 * bytes - 1, log, health, onRound: () => void rounds++ };
    const worker = await players().startWorker(await players().workerKey(), program, reference(), options);
    expect(await first(worker, "submitted")).to.include({ jobId });
    // The second one would take what games about the first one may need; the third one would never fit.
    await post(2);
    await post(3, 3 * ITEMS);
    const condition = () => health.problem("runsOnDisk")?.reason;
    while (condition() === undefined) await sleep(10);
    expect(condition()).to.include("raise --snapshot-mib, or wait until claims are final");
    for (const end = rounds + 3; rounds < end;) await sleep(10);
    expect(worker.inbox.all.filter(({ kind }) => kind === "claimed")).to.have.length(1);
    expect(lines.filter(({ msg }) => msg === "not ready: runsOnDisk")).to.have.length(1);
    expect(lines.filter(({ msg }) => msg.includes("more on disk than --snapshot-mib allows"))).to.have.length(1);
    // A run of one item takes nothing.
    const small = await post(4, 1);
    await first(worker, "submitted", (event) => event.jobId === small.jobId);
    await worker.stop();
  });

  it("keepsRunsInItsFolder_untilTheirJobIsOver", async () => {
    const key = await players().workerKey();
    const { jobId } = await post(5);
    const worker = await players().startWorker(key, program, reference(), { cacheFolder });
    await first(worker, "submitted", (event) => event.jobId === jobId);
    const [folder] = (await readdir(cacheFolder)).filter((name) => name.startsWith("runs-"));
    expect(await readdir(join(cacheFolder, folder!))).to.deep.equal([jobId]);
    expect(await readdir(join(cacheFolder, folder!, jobId))).to.have.length(ITEMS);
    await worker.stop();
    // After a restart only the items that are audited are executed.
    let executed = 0;
    const again = await players().startWorker(
      key,
      program,
      (...args) => {
        executed++;
        return reference()(...args);
      },
      { cacheFolder, log: quiet },
    );
    await players().chain.advance(3_601);
    await first(again, "delivered");
    expect(executed).to.be.within(1, 2);
    await again.stop();
  });
});
