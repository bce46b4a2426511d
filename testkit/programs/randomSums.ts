import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { Op } from "../../src/program/operations.ts";
import { programRoot } from "../../src/program/root.ts";
import {
  Reduce,
  type Checkpoint,
  type Program,
  type Step,
  type TensorRef,
  type View,
} from "../../src/program/types.ts";
import { validateProgram } from "../../src/program/validate.ts";
import { Prng } from "../random/prng.ts";

/**
 * Returns a random program with int32 steps. Each step adds two tensors, element by element. Checkpoints are random,
 * and their ranges are closed under reads. Tensors have 1 to 400 elements; the last chunk is rarely full.
 */
export function randomSums(prng: Prng, stepCount = 1 + prng.below(12)): CompiledModel {
  const count = 1 + prng.below(400);
  const constant = new Uint8Array(new Int32Array(count).map((_, k) => k * 7 - 3).buffer);
  const constantRef: TensorRef = { kind: "constant", root: tensorRoot(constant), dtype: DType.int32, count };
  const steps: Step[] = [];
  const checkpoints: Checkpoint[] = [];
  let first = 0;
  for (let s = 0; s < stepCount; s++) {
    const readable: TensorRef[] = [{ kind: "input", index: 0, dtype: DType.int32, count }, constantRef];
    for (let index = 0; index < s; index++) {
      const inside = index >= first || checkpoints.some(({ step }) => step === index);
      if (inside) readable.push({ kind: "step", index, dtype: DType.int32, count });
    }
    const any = () => prng.pick(readable);
    steps.push(sumStep(any(), readable.at(-1)!, count));
    if (s === stepCount - 1 || prng.below(3) === 0) {
      checkpoints.push({ first, step: s });
      first = s + 1;
    }
  }
  const inputs = [{ dtype: DType.int32, count }];
  const program: Program = {
    inputs,
    steps,
    checkpoints,
    outputs: [checkpoints.length - 1],
    maxStepGas: 3_000_000,
    maxStepBytes: 90_000,
  };
  validateProgram(program);
  return {
    program,
    programRoot: programRoot(program),
    constants: new Map([[tensorRoot(constant), constant]]),
    inputs: [{ name: "x", dtype: DType.int32, shape: [count] }],
    outputs: [{ name: "y", dtype: DType.int32, shape: [count] }],
    origins: steps.map((_, s) => ({ node: `sum${s}`, operator: "Add" })),
  };
}

function sumStep(a: TensorRef, b: TensorRef, count: number): Step {
  const same = a.kind === b.kind && JSON.stringify(a) === JSON.stringify(b);
  const read = (input: number): View => ({
    input,
    fill: 0n,
    axes: [{ extent: count, stride: 1, base: 0, div: 1, coeffs: [{ digit: 0, coeff: 1 }] }],
  });
  return {
    dtype: DType.int32,
    count,
    inputs: same ? [a] : [a, b],
    outDigits: [count],
    redDigits: [],
    reduce: Reduce.none,
    constants: [],
    termReads: [],
    epilogueReads: [read(0), read(same ? 0 : 1)],
    term: { code: [], outA: 0, outB: 0 },
    epilogue: { code: [{ op: Op.add, dtype: DType.int32, a: 0, b: 1, c: 0 }], out: 2 },
  };
}

/** Returns random bytes for a sum program's input. */
export function sumsInput(prng: Prng, { program }: CompiledModel): Uint8Array {
  return Uint8Array.from({ length: program.inputs[0]!.count * 4 }, () => prng.below(256));
}

/**
 * A fixed program with 12 sums and six checkpoints. The chosen seed has two properties. A wrong element in any step
 * changes the output. A range with several steps ends at a step that reads another step in the same range.
 */
export const chainOfSums = (): KnownProgram => knownProgram(randomSums(new Prng(2488), 12));
