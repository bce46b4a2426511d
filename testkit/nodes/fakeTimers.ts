import type { Prng } from "../random/prng.ts";

/** A timer that waits. */
type Timer = { id: number; at: number; run: () => void };

/** Turns of the event loop in which nothing may happen before the time goes on. */
const QUIET_TURNS = 6;

/**
 * Runs an action in virtual time. The function replaces `setTimeout`, `performance.now` and `Date.now`. The time jumps
 * to the next timer when nothing else happens, and minutes take only the time for computing. The function also
 * replaces `Math.random`: the same seed gives the same run.
 * @param isBusy Whether something is under way that waits for no timer, for example a request to a fake node.
 * @param prng Gives the numbers for `Math.random`.
 * @param action Gets the clock: milliseconds since the start.
 */
export async function inVirtualTime<T>(
  isBusy: () => boolean,
  prng: Prng,
  action: (now: () => number) => Promise<T>,
): Promise<T> {
  const { random } = Math;
  const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };
  const since = performance.now.bind(performance);
  const [start, begin] = [Date.now(), since()];
  const timers = new Map<number, Timer>();
  let now = 0;
  let nextId = 1;
  const set = (run: () => void, ms = 0): object => {
    const id = nextId++;
    timers.set(id, { id, at: now + Math.max(ms, 0), run });
    return { id, unref: () => undefined };
  };
  globalThis.setTimeout = set as unknown as typeof setTimeout;
  globalThis.clearTimeout = ((timer?: Timer) => void timers.delete(timer?.id ?? 0)) as unknown as typeof clearTimeout;
  Date.now = () => start + now;
  performance.now = () => begin + now;
  Math.random = () => prng.below(2 ** 30) / 2 ** 30;
  try {
    let isDone = false;
    const result = action(() => now).finally(() => (isDone = true));
    result.catch(() => undefined);
    for (let quiet = 0; !isDone; quiet++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isBusy()) quiet = 0;
      if (quiet < QUIET_TURNS) continue;
      const [next] = [...timers.values()].sort((a, b) => a.at - b.at || a.id - b.id);
      if (next === undefined) throw new Error("everything waits for nothing");
      timers.delete(next.id);
      now = Math.max(now, next.at);
      next.run();
      quiet = 0;
    }
    return await result;
  } finally {
    Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
    Date.now = real.now;
    performance.now = since;
    Math.random = random;
  }
}
