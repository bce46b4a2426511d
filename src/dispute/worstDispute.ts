import { dtypeBytes } from "../numerics/dtype.ts";
import { encodeHeader } from "../program/encode.ts";
import { estimateStepProofGas } from "../program/gas.ts";
import type { Program } from "../program/types.ts";
import { disputeMoves, type DisputeMoves } from "./moveGas.ts";

/** A game over one element of `step`. */
export type DisputeCost = DisputeMoves & { step: number };

/** The moves of a game over one element of `step`, entered through checkpoint `j`, if nobody skips a level. */
export function disputeCost(program: Program, j: number, step: number, arityBits: number): DisputeCost {
  const { first, step: last } = program.checkpoints[j]!;
  const { count, dtype } = program.steps[step]!;
  const moves = disputeMoves({
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
 * The dispute of a program that takes the most gas.
 * @param arityBits log2 of the children in a reveal: the deployment's.
 */
export function worstDispute(program: Program, arityBits: number): DisputeCost {
  let worst: DisputeCost | undefined;
  program.checkpoints.forEach(({ first, step: last }, j) => {
    for (let step = first; step <= last; step++) {
      const cost = disputeCost(program, j, step, arityBits);
      if (worst === undefined || cost.gas > worst.gas) worst = cost;
    }
  });
  return worst!;
}
