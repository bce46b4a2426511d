import type { Program } from "../program/types.ts";
import { MOVE_GAS } from "./moveGas.ts";
import { worstDispute } from "./worstDispute.ts";

/** Levels of a list of which an expansion shows a path: no program has 2^32 steps. */
const MAX_LEVELS = 32;

/** Upper bounds of the gas that each side's own transactions take in a game that goes the whole way. */
export type SideGas = { worker: number; challenger: number };

/**
 * What a game may take each side. Pure; it looks at each step of the program.
 * @param arityBits log2 of the children in a reveal: the deployment's.
 */
export function sideGas(program: Program, arityBits: number): SideGas {
  const { moves, gas } = worstDispute(program, arityBits);
  const children = MOVE_GAS.child * 2 ** arityBits;
  let [worker, least] = [0, 0];
  for (const move of moves) {
    if (move !== "reveal" && move !== "expand" && move !== "chunk") continue;
    least += MOVE_GAS[move];
    worker += MOVE_GAS[move] + children + MOVE_GAS.level * MAX_LEVELS;
  }
  return { worker, challenger: gas - least };
}
