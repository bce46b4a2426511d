import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { pino } from "pino";
import { parseEther, type Hex } from "viem";
import { emptyHistory } from "../../src/chain/market/history.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

const LIE = { step: 0, element: 1 };

describe("a hot spare: two processes with one key", function () {
  const players = usePlayers("test");
  const program = mlpProgram();

  /** Waits until the market's history is as wanted. */
  async function until(matches: (history: ReturnType<typeof emptyHistory>) => boolean) {
    const follow = followMarket(await players().chain.sessionOf(await players().chain.newAccount()));
    const end = performance.now() + 200_000;
    for (;;) {
      const { history } = await follow();
      if (matches(history)) return history;
      if (performance.now() > end) throw new Error("the market does not come to what is waited for");
      await sleep(20);
    }
  }
  const jobsOf = (history: ReturnType<typeof emptyHistory>, ids: readonly Hex[]) =>
    ids.map((id) => history.jobs.get(id)!);

  it("twoWorkers_serveAllJobs_eachOnce_andNoneIsLate", async function () {
    const key = await players().workerKey();
    const lines: string[] = [];
    const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
    const start = () => players().startWorker(key, program, reference(), { log });
    const workers = [await start(), await start()];
    const ids: Hex[] = [];
    for (let k = 0; k < 2; k++) ids.push((await players().post(program, [mlpInput(k)])).jobId);
    await until((history) => jobsOf(history, ids).every(({ claims }) => claims.length > 0));
    await players().chain.advance(3_601);
    const history = await until((now) => jobsOf(now, ids).every(({ claims }) => claims[0]?.paid === true));
    for (const { claims, late } of jobsOf(history, ids)) {
      expect(claims).to.have.length(1);
      expect(late.size).to.equal(0);
    }
    for (const worker of workers) await worker.stop();
    expect(lines.filter((line) => line.includes("unexpectedly"))).to.deep.equal([]);
  });

  it("twoWatchers_refuteTheLie_andLoseNoBond", async function () {
    const key = await players().watcherKey();
    const session = await players().chain.sessionOf(key);
    const before = (await session.vault.accountOf(session.sender.address)).credit;
    const start = () => players().startWatcher(key, program, reference());
    const watchers = [await start(), await start()];
    await players().post(program, [mlpInput(1)], { fee: parseEther("0.05") });
    const liar = await players().startWorker(await players().workerKey(), program, reference(LIE));
    const history = await until(({ claims, games }) => {
      const isDead = [...claims.values()].some(({ refuted }) => refuted);
      return isDead && [...games.values()].every(({ closed }) => closed !== undefined);
    });
    expect([...history.games.values()].filter(({ closed }) => closed?.paid === 0n)).to.deep.equal([]);
    for (const watcher of watchers) await watcher.stop();
    await liar.stop();
    const after = (await session.vault.accountOf(session.sender.address)).credit;
    expect(after >= before, `${after} < ${before}`).to.equal(true);
  });
});
