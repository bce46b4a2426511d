import { Side } from "../chain/structs.ts";

/**
 * Seconds in which any honest execution of a program's work ends: what windows, clocks and claims are reckoned from.
 * @param rate Units of work a second, of the deployment.
 */
export const workSeconds = (work: bigint, rate: bigint): number => Number(work / rate);

/** Seconds by which the side to move is over its time; negative or zero while it has time left. */
export function overtime(
  state: { turn: Side; workerSeconds: number; challengerSeconds: number; since: number },
  now: bigint,
): number {
  const left = state.turn === Side.worker ? state.workerSeconds : state.challengerSeconds;
  return Number(now) - state.since - left;
}
