import type { ProgramShape } from "../player/execution.ts";
import { disputeMoves, MOVE_GAS, type DisputeShape } from "./moveGas.ts";

/** Levels of a list of which an expansion shows a path: no program has 2^32 steps. */
const MAX_LEVELS = 32;

/** Upper bounds of the gas that each side's own transactions take in a game that goes the whole way. */
export type SideGas = { worker: number; challenger: number };

/**
 * What a game may take each side: a game through the longest range, over the largest tensor, with the dearest proof.
 * @param arityBits log2 of the children in a reveal: the deployment's.
 */
export function sideGas(shape: ProgramShape & Pick<DisputeShape, "items">, arityBits: number): SideGas {
  const { moves, gas } = disputeMoves({ ...shape, arityBits });
  const children = MOVE_GAS.child * 2 ** arityBits;
  let [worker, least] = [0, 0];
  for (const move of moves) {
    if (move !== "reveal" && move !== "expand" && move !== "chunk") continue;
    least += MOVE_GAS[move];
    worker += MOVE_GAS[move] + children + MOVE_GAS.level * MAX_LEVELS;
  }
  return { worker, challenger: gas - least };
}
