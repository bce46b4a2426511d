import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { Op } from "../../src/program/operations.ts";
import type { Program, Step, TensorRef } from "../../src/program/types.ts";
import { axis, NO_REDUCTION } from "../programs/stepModel.ts";
import { int32Program, type GameProgram } from "./chainProgram.ts";

const dtype = DType.int32;

/**
 * Returns a program of int32 sums. Step s adds up `reads` tensors: in turn earlier steps (in the range, and checkpoints
 * before the range), the job input and constants. Every step outside the last range has a checkpoint.
 * @param count Elements of each tensor.
 * @param checkpoints Checkpoints before the last range.
 * @param lastRange Steps of the last range.
 * @param outputs How often the last step is an output.
 */
export function wideProgram(
  count: number,
  checkpoints: number,
  lastRange: number,
  reads: number,
  outputs = 1,
): GameProgram {
  const constants = new Map(
    Array.from({ length: reads }, (_, k) => {
      const bytes = new Uint8Array(Int32Array.from({ length: count }, (_n, i) => 31 * i + k + 1).buffer);
      return [tensorRoot(bytes), bytes] as const;
    }),
  );
  const roots = [...constants.keys()];
  const stepCount = checkpoints + lastRange;
  const steps = Array.from({ length: stepCount }, (_, s): Step => {
    const inputs = Array.from({ length: reads }, (_n, k): TensorRef => {
      // The farthest unused checkpoint, then the nearest steps.
      const index = k === 0 ? s - 1 : k % 2 === 0 ? s - 1 - k : Math.min(k, checkpoints) - 1;
      if (index >= 0 && index < s) return { kind: "step", index, dtype, count };
      return k % 3 === 1
        ? { kind: "constant", root: roots[k]!, dtype, count }
        : { kind: "input", index: 0, dtype, count };
    });
    return {
      dtype,
      count,
      inputs,
      outDigits: [count],
      ...NO_REDUCTION,
      epilogueReads: inputs.map((_n, input) => ({ input, fill: 0n, axes: [axis(0, count, 1)] })),
      epilogue: {
        code: inputs.slice(1).map((_n, k) => ({ op: Op.add, dtype, a: k === 0 ? 0 : reads + k - 1, b: k + 1, c: 0 })),
        out: reads === 1 ? 0 : 2 * reads - 2,
      },
    };
  });
  const program: Program = {
    inputs: [{ dtype, count }],
    steps,
    checkpoints: [
      ...Array.from({ length: checkpoints }, (_, step) => ({ first: step, step })),
      { first: checkpoints, step: stepCount - 1 },
    ],
    outputs: new Array<number>(outputs).fill(checkpoints),
    maxStepGas: 3_000_000,
    maxStepBytes: 90_000,
  };
  const input = new Uint8Array(Int32Array.from({ length: count }, (_, i) => i * i + 3).buffer);
  return int32Program(program, constants, input);
}
