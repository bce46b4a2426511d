import { dtypeBytes } from "../numerics/dtype.ts";
import { encodeHeader } from "../program/encode.ts";
import { estimateStepProofGas } from "../program/gas.ts";
import type { Program } from "../program/types.ts";
import { disputeMoves, type DisputeMoves } from "./moveGas.ts";

/** A game over one element of `step`. */
type DisputeCost = DisputeMoves & { step: number };

/**
 * Returns the moves for a game over one element of `step`, entered through checkpoint `j`, without skipped levels.
 * @param items Number of items in the run.
 */
export function disputeCost(program: Program, j: number, step: number, arityBits: number, items = 1): DisputeCost {
  const { first, step: last } = program.checkpoints[j]!;
  const { count, dtype } = program.steps[step]!;
  const moves = disputeMoves({
    items,
    checkpoints: program.checkpoints.length,
    steps: program.steps.length,
    range: last - first + 1,
    tensorBytes: count * dtypeBytes(dtype),
    proofGas: estimateStepProofGas(program.steps[step]!),
    headerBytes: encodeHeader(program).length,
    arityBits,
  });
  return { ...moves, step };
}

/**
 * Returns the program's dispute with the most gas.
 * @param arityBits log2 of the children in a reveal: the deployment's.
 * @param items Number of items in the run.
 */
export function worstDispute(program: Program, arityBits: number, items = 1): DisputeCost {
  let worst: DisputeCost | undefined;
  program.checkpoints.forEach(({ first, step: last }, j) => {
    for (let step = first; step <= last; step++) {
      const cost = disputeCost(program, j, step, arityBits, items);
      if (worst === undefined || cost.gas > worst.gas) worst = cost;
    }
  });
  return worst!;
}
