import { expect } from "chai";
import { HttpRequestError, custom, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { stateOf, type JobRecord } from "../../src/chain/market/history.ts";
import { followMarket, openSession, type Session } from "../../src/chain/market/session.ts";
import { Side } from "../../src/chain/structs.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { chainOfSums, sumsInput } from "../../testkit/programs/randomSums.ts";
import { Prng } from "../../testkit/random/prng.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

describe("hours without any node", function () {
  // With several checkpoints: a game that is lost can be opened again a level higher.
  const program = chainOfSums();
  const input = sumsInput(new Prng(1), program.model);
  const lie = { step: 4, element: 1 };
  const players = usePlayers("test");

  /** A session whose nodes can be switched off. */
  async function switched(key: Hex): Promise<{ session: Session; nodes: { areDown: boolean } }> {
    const nodes = { areDown: false };
    const { provider, chainId, market } = players().chain;
    const request = (call: { method: string; params?: unknown[] }): Promise<unknown> =>
      nodes.areDown
        ? Promise.reject(new HttpRequestError({ url: "http://node", status: 503 }))
        : provider.request(call);
    const endpoint = { transport: custom({ request }, { retryCount: 0 }) };
    return { session: await openSession({ endpoint, chainId, market, account: privateKeyToAccount(key) }), nodes };
  }

  /** Waits until something holds of a job. */
  async function until<T>(jobId: Hex, found: (job: JobRecord) => T | undefined): Promise<T> {
    const follow = followMarket(await players().chain.newSession());
    for (;;) {
      const value = found((await follow()).history.jobs.get(jobId)!);
      if (value !== undefined) return value;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /**
   * A lie, and a watcher whose nodes go down when it has made its first move. Until its turn, and for some seconds
   * more.
   */
  async function watcherWithoutNodes(seconds: number) {
    const key = await players().watcherKey();
    const { session, nodes } = await switched(key);
    const { jobId } = await players().post(program, [input], { window: 20_000 });
    const liar = await players().startWorker(await players().workerKey(), program, reference(lie));
    let opened = 0;
    const watcher = await players().startWatcher(key, program, reference(), {
      session,
      onEvent: (event) => {
        if (event.kind === "opened") nodes.areDown = ++opened === 1;
        watcher.inbox.put(event);
      },
    });
    await until(jobId, ({ claims }) => {
      const open = claims.at(-1)?.games[0];
      return (open !== undefined && stateOf(open).turn === Side.challenger) || undefined;
    });
    await players().chain.advance(seconds);
    return { jobId, nodes, watcher, liar };
  }

  it("watcher_withinItsClock_winsTheSameGame", async function () {
    const { jobId, nodes, watcher, liar } = await watcherWithoutNodes(3_000);
    nodes.areDown = false;
    const { games } = await until(jobId, ({ claims }) => claims.find(({ refuted }) => refuted));
    expect(games).to.have.length(1);
    await Promise.all([watcher.stop(), liar.stop()]);
  });

  it("watcher_beyondItsClock_saysThatItLost_andWinsAnother", async function () {
    const { jobId, nodes, watcher, liar } = await watcherWithoutNodes(4_000);
    await until(jobId, ({ claims }) => claims.at(-1)?.games[0]?.closed);
    nodes.areDown = false;
    await first(watcher, "lost");
    const { games } = await until(jobId, ({ claims }) => claims.find(({ refuted }) => refuted));
    expect(games).to.have.length(2);
    await Promise.all([watcher.stop(), liar.stop()]);
  });

  it("worker_beyondItsClock_saysThatItIsRefuted", async function () {
    const key = await players().workerKey();
    const { session, nodes } = await switched(key);
    const { jobId } = await players().post(program, [input]);
    const worker = await players().startWorker(key, program, reference(), { session });
    await first(worker, "submitted");
    nodes.areDown = true;
    const wrong = await players().startWatcher(await players().watcherKey(), program, reference(lie));
    await first(wrong, "opened");
    await players().chain.advance(4_000);
    await until(jobId, ({ claims }) => claims.at(-1)?.refuted || undefined);
    nodes.areDown = false;
    await first(worker, "refuted");
    await Promise.all([worker.stop(), wrong.stop()]);
  });
});
