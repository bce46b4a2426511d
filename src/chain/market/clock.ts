import { Side, type Job, type Parameters } from "../structs.ts";

/**
 * Seconds in which any honest execution of a program's work ends: what windows, clocks and claims are reckoned from.
 * @param rate Units of work a second, of the deployment.
 */
export const workSeconds = (work: bigint, rate: bigint): number => Number(work / rate);

/**
 * The last second at which anybody disputes a claim on a job: the latest submission, its window, and two clocks.
 * @param opensUntil When sealed submissions of it are opened at the latest, unix seconds.
 */
export function lastSecondOf(
  { deadline, window, work }: Pick<Job, "deadline" | "window" | "work">,
  opensUntil: bigint,
  { baseClock, rate }: Pick<Parameters, "baseClock" | "rate">,
): bigint {
  const clock = baseClock + 2 * workSeconds(work, rate);
  return (deadline > opensUntil ? deadline : opensUntil) + BigInt(window + 2 * clock);
}

/** Seconds by which the side to move is over its time; negative or zero while it has time left. */
export function overtime(
  state: { turn: Side; workerSeconds: number; challengerSeconds: number; since: number },
  now: bigint,
): number {
  const left = state.turn === Side.worker ? state.workerSeconds : state.challengerSeconds;
  return Number(now) - state.since - left;
}
