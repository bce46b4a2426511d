import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { toHex } from "viem";
import { programShape } from "../../src/dispute/run/execution.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

const LIE = { step: 0, element: 1 };

describe("a watcher that has forgotten an input", function () {
  const players = usePlayers("test");
  const program = mlpProgram();
  let cacheFolder: string;
  beforeEach(() => void (cacheFolder = mkdtempSync(join(tmpdir(), "refute-"))));
  afterEach(() => rmSync(cacheFolder, { recursive: true, force: true }));

  const mine = (blocks: number): Promise<unknown> =>
    players().chain.provider.request({ method: "hardhat_mine", params: [`0x${blocks.toString(16)}`] });

  /** A library as a catalogue fills it: it was told to know the same at each start. */
  function library(): ProgramLibrary {
    const programs = new ProgramLibrary();
    programs.addSource({ awaits: () => false, content: ["catalogue"] });
    return programs;
  }
  const learn = (programs: ProgramLibrary): void =>
    programs.add({
      root: program.model.programRoot,
      shape: programShape(program),
      load: () => Promise.resolve(program),
    });

  for (const isRestarted of [false, true])
    it(`judgesTheClaimWhenItsModelComes${isRestarted ? "_afterARestartToo" : ""}`, async function () {
      await players().post(program, [mlpInput(1)]);
      const liar = await players().startWorker(await players().workerKey(), program, reference(LIE));
      await first(liar, "submitted");
      await liar.stop();
      await mine(400);
      const key = await players().watcherKey();
      let programs = library();
      let watcher = await players().startWatcher(key, program, reference(), { programs, cacheFolder });
      await first(watcher, "unknown");
      if (isRestarted) {
        await watcher.stop();
        programs = library();
        watcher = await players().startWatcher(key, program, reference(), { programs, cacheFolder });
        await first(watcher, "unknown");
      }
      learn(programs);
      await first(watcher, "opened");
      await watcher.stop();
    });

  it("inputOfAJobThatNobodyHasClaimed_isForgotten_andReadAgainWhenSomebodyLies", async function () {
    const input = mlpInput(77);
    const { jobId } = await players().post(program, [input]);
    const key = await players().watcherKey();
    let rounds = 0;
    const options = { cacheFolder, onRound: () => rounds++ };
    const watcher = await players().startWatcher(key, program, reference(), options);
    const someRounds = async (): Promise<void> => {
      for (const end = rounds + 3; rounds < end;) await sleep(10);
    };
    const isOnDisk = (): boolean =>
      readdirSync(cacheFolder).some((name) => readFileSync(join(cacheFolder, name)).includes(toHex(input).slice(2)));
    await someRounds();
    expect(isOnDisk()).to.equal(true);
    await mine(400);
    await someRounds();
    expect(isOnDisk()).to.equal(false);
    const liar = await players().startWorker(await players().workerKey(), program, reference(LIE));
    await first(watcher, "opened");
    await liar.stop();
    await watcher.stop();
    expect(watcher.inbox.all.some((event) => event.kind === "differs" && event.jobId === jobId)).to.equal(true);
  });
});
