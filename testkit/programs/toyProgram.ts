import { tensorRoot } from "../../src/merkle/tensor.ts";
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

/** A number in 0 .. below-1. */
export type Random = (below: number) => number;

/** A small deterministic generator (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/**
 * A random program of int32 steps, each the sum of two tensors, element by element, with random checkpoints whose ranges are
 * closed under reads. Tensors have 1 to 400 elements, the last chunk is rarely full.
 */
export function toyModel(random: Random, stepCount = 1 + random(12)): CompiledModel {
  const count = 1 + random(400);
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
    const any = () => readable[random(readable.length)]!;
    steps.push(sumStep(any(), readable.at(-1)!, count));
    if (s === stepCount - 1 || random(3) === 0) {
      checkpoints.push({ first, step: s });
      first = s + 1;
    }
  }
  const inputs = [{ dtype: DType.int32, count }];
  const program: Program = { inputs, steps, checkpoints, outputs: [checkpoints.length - 1], maxStepGas: 3_000_000 };
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

/** Random bytes for the toy model's input. */
export function toyInput(random: Random, { program }: CompiledModel): Uint8Array {
  return Uint8Array.from({ length: program.inputs[0]!.count * 4 }, () => random(256));
}
