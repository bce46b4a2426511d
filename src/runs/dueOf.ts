import { overtime } from "../chain/market/clock.ts";
import { isOpen, stateOf, type JobRecord } from "../chain/market/history.ts";

/**
 * Returns how long an execution of a job remains useful, as unix time: until the earliest end of a running clock, a
 * window or a claim's time. Infinity if nothing is running. Pure.
 */
export function dueOf({ holder, claims }: Pick<JobRecord, "holder" | "claims">): number {
  let due = holder === undefined ? Infinity : Number(holder.until);
  for (const { games, windowEnd } of claims.filter(isOpen)) {
    const open = games.filter(({ closed }) => closed === undefined);
    const ends = open.length === 0 ? [Number(windowEnd)] : open.map((game) => -overtime(stateOf(game), 0n));
    due = Math.min(due, ...ends);
  }
  return due;
}
