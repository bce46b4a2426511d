import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import type { ClaimRecord, History } from "../../src/chain/market/history.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import type { Players } from "../players/players.ts";

/** The number of uneventful looks at a chain before time passes. The second number applies while a job is open. */
const [LOOKS, LOOKS_OPEN] = [5, 20];

/** The workers that have stopped acting on the jobs they hold, and the claims that watchers must refute. */
type Cast = { idle: ReadonlySet<Address>; isWrong: (claim: ClaimRecord) => boolean };

/** The interval at which others look at the chain, milliseconds, and the callback for each history seen. */
type Looking = { intervalMs?: number; onLook?: (history: History) => void };

/**
 * Lets time pass on a chain whenever nobody has anything to do but wait: to the end of windows, and until jobs that
 * idle workers hold are late. Honest parties lose no time that they need.
 * @param signal Ends it.
 */
export async function passTime(
  players: Players,
  { idle, isWrong }: Cast,
  signal: AbortSignal,
  { intervalMs = 30, onLook }: Looking = {},
): Promise<History> {
  const follow = followMarket(await players.chain.newSession());
  for (let quiet = 0; ;) {
    const { history } = await follow();
    if (signal.aborted) return history;
    onLook?.(history);
    const jobs = [...history.jobs.values()].filter(({ closed, claims }) => !closed && !claims.some((c) => c.finalised));
    const isBusy = jobs.some(({ holder, claims }) => {
      if (holder !== undefined) return !idle.has(holder.worker);
      const last = claims.at(-1);
      return last !== undefined && !last.refuted && isWrong(last);
    });
    quiet = isBusy || jobs.length === 0 ? 0 : quiet + 1;
    // By now everybody has looked at the latest submission. Every worker with stake for an open job has claimed the
    // job, and every poster of a job's inputs has gone on.
    const isAwaited = jobs.some(({ open, holder, claims }) => open || (holder === undefined && claims.length === 0));
    if (quiet >= (isAwaited ? LOOKS_OPEN : LOOKS)) {
      await players.chain.advance(1_300);
      quiet = 0;
    }
    await sleep(2 * intervalMs);
  }
}
