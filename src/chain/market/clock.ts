import { Side, type Job, type Parameters } from "../structs.ts";

/**
 * Returns the time limit within which every honest execution of a program's work ends, in seconds. Windows, clocks and
 * claims follow from this time.
 * @param rate The deployment's units of work per second.
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

type Clocks = { turn: Side; workerSeconds: number; challengerSeconds: number; since: number };

/** Returns when the time of the side to move runs out, unix seconds. */
export const clockEnd = (state: Clocks): number =>
  state.since + (state.turn === Side.worker ? state.workerSeconds : state.challengerSeconds);

/** Returns the seconds by which the side to move has exceeded its time; negative or zero while time remains. */
export const overtime = (state: Clocks, now: bigint): number => Number(now) - clockEnd(state);
