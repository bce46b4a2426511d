import { dtypeBytes } from "../../numerics/dtype.ts";
import { keptSteps } from "../../program/trace/runItems.ts";
import type { Program } from "../../program/types.ts";

/**
 * Returns a program with the same steps whose items are items of different runs: each has all inputs, and all tensors
 * that a run needs are outputs. The program is only executed: nothing is committed to it.
 */
export function apartProgram(program: Program): Program {
  const kept = keptSteps(program);
  const inputs = program.inputs.map((input) => ({ ...input, source: { kind: "each" as const } }));
  const outputs = program.checkpoints.flatMap(({ step }, checkpoint) => (kept.has(step) ? [checkpoint] : []));
  return { ...program, inputs, outputs };
}

/** Bytes of all inputs of an item. */
export const inputBytes = ({ inputs }: Pick<Program, "inputs">): number =>
  inputs.reduce((sum, { count, dtype }) => sum + count * dtypeBytes(dtype), 0);
