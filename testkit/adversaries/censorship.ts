import { custom, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { stateOf } from "../../src/chain/market/history.ts";
import { openSession, type Session } from "../../src/chain/market/session.ts";
import { Side } from "../../src/chain/structs.ts";
import { runWorker } from "../../src/parties/worker/worker.ts";
import { runWatcher } from "../../watcher/watcher.ts";
import { quiet, reference } from "../players/players.ts";
import { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena, Posted } from "./arena.ts";
import { postSums } from "./workers.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";

const LIE = { step: 4, element: 1 };

/** No transaction from the watcher is included for nearly the watcher's whole clock. */
class CensoredWatcher extends Adversary {
  readonly name = "censorship of the watcher for less than its clock";
  readonly expected = "refuted by a proof";

  async attack(arena: Arena): Promise<Verdict> {
    await arena.watcher.stop();
    const posted = await postSums(arena);
    const gate = new Gate();
    const session = await gatedSession(arena, await arena.players.watcherKey(), gate);
    const stop = new AbortController();
    const common = { intervalMs: 15, log: quiet, signal: stop.signal };
    const watching = runWatcher({
      ...common,
      session,
      programs: ProgramLibrary.of([posted.program]),
      execute: reference(),
      mode: "defend",
    });
    const liar = await arena.players.startWorker(await arena.players.workerKey(), posted.program, reference(LIE));
    await censor(arena, posted, gate, Side.challenger);
    const verdict = await arena.death(posted);
    stop.abort();
    await Promise.all([watching, liar.stop()]);
    await arena.startWatcher();
    return verdict;
  }
}

/** No transaction from the worker is included for nearly the worker's whole clock. */
class CensoredWorker extends Adversary {
  readonly name = "censorship of the worker for less than its clock";
  readonly expected = "finalised";

  async attack(arena: Arena): Promise<Verdict> {
    const posted = await postSums(arena);
    const gate = new Gate();
    const session = await gatedSession(arena, await arena.players.workerKey(), gate);
    const stop = new AbortController();
    const common = { intervalMs: 15, log: quiet, signal: stop.signal };
    const policy = { minFee: 1n, marginSeconds: 10 };
    const own = {
      session,
      programs: ProgramLibrary.of([posted.program]),
      execute: reference(),
      policy,
      selfAuditSamples: 0,
    };
    const working = runWorker({ ...common, ...own });
    const claim = await arena.claimOn(posted);
    gate.close();
    const key = await arena.players.watcherKey();
    const confused = await arena.players.startWatcher(key, posted.program, reference(LIE));
    const game = await arena.gameOn(claim, key);
    await censor(arena, posted, gate, Side.worker);
    await arena.until("the end of the game", () => game.closed);
    const verdict = await arena.survival(posted);
    stop.abort();
    await Promise.all([working, confused.stop()]);
    return verdict;
  }
}

/** Holds transactions back while it is closed. */
class Gate {
  #open: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  close(): void {
    this.#open = new Promise((resolve) => (this.#release = resolve));
  }
  release(): void {
    this.#release();
  }
  get opened(): Promise<void> {
    return this.#open;
  }
}

/** Holds back a side's transactions on its turn until a minute before its clock runs out. */
async function censor(arena: Arena, posted: Posted, gate: Gate, side: number): Promise<void> {
  const game = await arena.until("its turn", ({ jobs }) => {
    const found = jobs.get(posted.record.id)?.claims.at(-1)?.games[0];
    if (found === undefined) return undefined;
    if (side === Side.challenger && found.moves.length === 1) gate.close();
    return stateOf(found).turn === side ? found : undefined;
  });
  const { workerSeconds, challengerSeconds } = stateOf(game);
  const left = side === Side.worker ? workerSeconds : challengerSeconds;
  await arena.players.chain.advance(Number(left) - 60);
  gate.release();
}

async function gatedSession(arena: Arena, key: Hex, gate: Gate): Promise<Session> {
  const { provider, chainId, market } = arena.players.chain;
  const request = async (call: { method: string; params?: unknown[] }): Promise<unknown> => {
    if (call.method === "eth_sendRawTransaction") await gate.opened;
    return provider.request(call);
  };
  const transport = custom({ request }, { retryCount: 0 });
  return openSession({ endpoint: { transport }, chainId, market, account: privateKeyToAccount(key) });
}

export const CENSORS: readonly Adversary[] = [new CensoredWatcher(), new CensoredWorker()];
