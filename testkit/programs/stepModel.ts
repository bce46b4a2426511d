import type { CompiledModel } from "../../src/program/compiled.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { programRoot } from "../../src/program/root.ts";
import { Reduce, type Program, type Step } from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";

/** A model of steps that read job inputs and earlier steps only. */
export function stepModel(steps: readonly Step[]): CompiledModel {
  const inputs: { dtype: DType; count: number }[] = [];
  for (const ref of steps.flatMap((step) => step.inputs)) {
    if (ref.kind === "input") inputs[ref.index] = { dtype: ref.dtype, count: ref.count };
  }
  const last = steps.length - 1;
  const program: Program = {
    inputs,
    steps,
    checkpoints: [{ first: 0, step: last }],
    outputs: [0],
    maxStepGas: 1,
  };
  validateProgram(program);
  return {
    program,
    programRoot: programRoot(program),
    constants: new Map(),
    inputs: inputs.map(({ dtype, count }, i) => ({ name: `input${i}`, dtype, shape: [count] })),
    outputs: [{ name: "output", dtype: steps[last]!.dtype, shape: [steps[last]!.count] }],
    origins: steps.map((_, i) => ({ node: `step${i}`, operator: "test" })),
  };
}

const axis = (digit: number, extent: number, stride: number) => ({
  extent,
  stride,
  base: 0,
  div: 1,
  coeffs: [{ digit, coeff: 1 }],
});

/** The float32 matrix product of job inputs 0, `[rows, inner]`, and 1, `[columns, inner]`, as one step. */
export function matMulStep(rows: number, inner: number, columns: number): Step {
  const dtype = DType.float32;
  return {
    dtype,
    count: rows * columns,
    inputs: [
      { kind: "input", index: 0, dtype, count: rows * inner },
      { kind: "input", index: 1, dtype, count: columns * inner },
    ],
    outDigits: [rows, columns],
    redDigits: [inner],
    reduce: Reduce.dot,
    reduceType: dtype,
    constants: [],
    termReads: [
      { input: 0, fill: 0n, axes: [axis(0, rows, inner), axis(2, inner, 1)] },
      { input: 1, fill: 0n, axes: [axis(1, columns, inner), axis(2, inner, 1)] },
    ],
    epilogueReads: [],
    term: { code: [], outA: 0, outB: 1 },
    epilogue: { code: [], out: 0 },
  };
}

/** The float32 sums of the rows of job input 0, `[rows, inner]`, as one step. */
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
