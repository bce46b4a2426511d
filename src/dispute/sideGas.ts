import type { ProgramShape } from "./run/execution.ts";
import type { ClaimForm } from "../chain/market/claimForm.ts";
import { disputeMoves, MOVE_GAS } from "./moveGas.ts";

/**
 * Maximum number of levels in an expansion's path: a trace with fewer than 2^32 leaves, plus the run around the trace.
 */
const MAX_LEVELS = 48;

/** Upper bounds for the gas of each side's own transactions, in a game that goes the whole way. */
type SideGas = { worker: number; challenger: number };

/**
 * Returns each side's maximum gas: a game through the longest range, over the largest tensor, with the most expensive
 * proof.
 * @param items Number of items in the run.
 * @param arityBits log2 of the children in a reveal: the deployment's.
 */
export function sideGas(program: ProgramShape, items: number, form: ClaimForm, arityBits: number): SideGas {
  const { outputs, hasEach: isEach, isCarried } = program;
  const answer = form === "answer" ? { outputs, isEach, isCarried } : undefined;
  const { moves, gas } = disputeMoves({ ...program, items, answer, arityBits });
  const children = MOVE_GAS.child * 2 ** arityBits;
  let [worker, min] = [0, 0];
  for (const move of moves) {
    if (move !== "reveal" && move !== "expand" && move !== "chunk") continue;
    min += MOVE_GAS[move];
    worker += MOVE_GAS[move] + children + MOVE_GAS.level * MAX_LEVELS;
  }
  return { worker, challenger: gas - min };
}
