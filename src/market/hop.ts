import { Side } from "../chain/structs.ts";

/**
 * Levels that one reveal crosses at a node `depth` levels above the leaves, with up to 2^arityBits children: hops are
 * balanced.
 */
export function hopOf(depth: number, arityBits: number): number {
  return depth === 0 ? 0 : Math.ceil(depth / Math.ceil(depth / arityBits));
}

/** Seconds by which the side to move is over its time; negative or zero while it has time left. */
export function overtime(
  state: { turn: Side; workerSeconds: number; challengerSeconds: number; since: number },
  now: bigint,
): number {
  const left = state.turn === Side.worker ? state.workerSeconds : state.challengerSeconds;
  return Number(now) - state.since - left;
}
