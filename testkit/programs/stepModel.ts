import type { CompiledModel } from "../../src/program/compiled.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { productStep } from "../../src/executor/gpu/selfTest.ts";
import { programRoot } from "../../src/program/root.ts";
import { Op } from "../../src/program/operations.ts";
import { Reduce, type Program, type Step } from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";

/** Returns a model with steps in a single range. The last step gives the output. */
export function modelOfSteps(
  inputs: Program["inputs"],
  steps: readonly Step[],
  constants: CompiledModel["constants"] = new Map(),
): CompiledModel {
  const last = steps.length - 1;
  const program: Program = {
    inputs,
    steps,
    checkpoints: [{ first: 0, step: last }],
    outputs: [0],
    maxStepGas: 1,
    maxStepBytes: 90_000,
  };
  validateProgram(program);
  return {
    program,
    programRoot: programRoot(program),
    constants,
    inputs: inputs.map(({ dtype, count }, i) => ({ name: `input${i}`, dtype, shape: [count] })),
    outputs: [{ name: "output", dtype: steps[last]!.dtype, shape: [steps[last]!.count] }],
    origins: steps.map((_, i) => ({ node: `step${i}`, operator: "test" })),
  };
}

/** Returns a model whose steps read only job inputs and earlier steps. */
export function stepModel(steps: readonly Step[]): CompiledModel {
  const inputs: { dtype: DType; count: number }[] = [];
  for (const ref of steps.flatMap((step) => step.inputs)) {
    if (ref.kind === "input") inputs[ref.index] = { dtype: ref.dtype, count: ref.count };
  }
  return modelOfSteps(inputs, steps);
}

/** A step's fields where it reduces nothing: all that it computes is its epilogue. */
export const NO_REDUCTION = {
  redDigits: [],
  reduce: Reduce.none,
  constants: [],
  termReads: [],
  term: { code: [], outA: 0, outB: 0 },
};

/** An axis that one digit walks. */
export const axis = (digit: number, extent: number, stride: number) => ({
  extent,
  stride,
  base: 0,
  div: 1,
  coeffs: [{ digit, coeff: 1 }],
});

/** Returns the float32 matrix product of job inputs 0, `[rows, inner]`, and 1, `[columns, inner]`, in one step. */
export const matMulStep = productStep;

/** Returns the float32 row sums of job input 0, `[rows, inner]`, in one step. */
export function rowSumStep(rows: number, inner: number): Step {
  const step = matMulStep(rows, inner, 1);
  return {
    ...step,
    inputs: step.inputs.slice(0, 1),
    outDigits: [rows],
    reduce: Reduce.sum,
    termReads: [{ input: 0, fill: 0n, axes: [axis(0, rows, inner), axis(1, inner, 1)] }],
    term: { code: [], outA: 0, outB: 0 },
  };
}

/**
 * Returns max(x W + 1, 0) in one float32 step, for job input 0 with 3 x 2 elements and a constant W with 2 elements and
 * the given root.
 */
export function reluProductStep(root: `0x${string}`): Step {
  const dtype = DType.float32;
  return {
    dtype,
    count: 3,
    inputs: [
      { kind: "input", index: 0, dtype, count: 6 },
      { kind: "constant", root, dtype, count: 2 },
    ],
    outDigits: [3],
    redDigits: [2],
    reduce: Reduce.dot,
    reduceType: dtype,
    constants: [
      { dtype, value: 0x3f800000n },
      { dtype, value: 0n },
    ],
    termReads: [
      { input: 0, fill: 0n, axes: [axis(0, 3, 2), axis(1, 2, 1)] },
      { input: 1, fill: 0n, axes: [axis(1, 2, 1)] },
    ],
    epilogueReads: [],
    term: { code: [], outA: 0, outB: 1 },
    epilogue: {
      code: [
        { op: Op.add, dtype, a: 0, b: 1, c: 0 },
        { op: Op.max, dtype, a: 3, b: 2, c: 0 },
      ],
      out: 4,
    },
  };
}
