import { Side } from "../chain/structs.ts";

/** Seconds by which the side to move is over its time; negative or zero while it has time left. */
export function overtime(
  state: { turn: Side; workerSeconds: number; challengerSeconds: number; since: number },
  now: bigint,
): number {
  const left = state.turn === Side.worker ? state.workerSeconds : state.challengerSeconds;
  return Number(now) - state.since - left;
}
