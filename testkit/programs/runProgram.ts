import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { Op } from "../../src/program/operations.ts";
import { commitProgram } from "../../src/program/root.ts";
import type { Instruction, Program, Step, TensorRef } from "../../src/program/types.ts";
import { int32Words } from "./int32Words.ts";
import { axis, NO_REDUCTION } from "./stepModel.ts";

/** Elements of each tensor: three chunks. */
export const RUN_COUNT = 300;
const count = RUN_COUNT;
const dtype = DType.int32;

/** Steps of {@link runProgram}. Each tensor shows the values read from a single source kind. */
export const RUN_STEPS = { carriedAndEach: 0, shared: 1, index: 2, last: 3 } as const;

/** The ranges of steps of a program's checkpoints. */
export type RunRanges = "two" | "one" | "step";

/**
 * Returns an int32 program with items reading from every kind of source. Each item has a separate `x`, all items share
 * `seed`, `i` holds the index, and items carry `state`. An item gives `a = state + x + seed` (an output of each item)
 * and the next state `a + i + state + c` (an output of the last item).
 * @param ranges With "two", the ranges match {@link RUN_STEPS}. With "one", a single checkpoint's range holds all
 *   four steps. With "step", a single step gives the same next state. The latter two have no other output, and a run's
 *   leaf equals the only leaf of its trace.
 */
export function runProgram(ranges: RunRanges = "two"): KnownProgram {
  const constant = int32Words(count, (k) => 3 * k + 1);
  const root = tensorRoot(constant);
  const state: TensorRef = { kind: "input", index: 0, dtype, count };
  const x: TensorRef = { kind: "input", index: 1, dtype, count };
  const seed: TensorRef = { kind: "input", index: 2, dtype, count };
  const index: TensorRef = { kind: "input", index: 3, dtype: DType.int64, count: 1 };
  const c: TensorRef = { kind: "constant", root, dtype, count };
  const steps =
    ranges === "step"
      ? [sum([state, x, seed, index, state, c])]
      : [sum([state, x]), sum([step(0), seed]), sum([step(1), index]), sum([step(2), state, c])];
  const last = steps.length - 1;
  const checkpoints =
    ranges === "two"
      ? [
          { first: 0, step: 1 },
          { first: 2, step: last },
        ]
      : [{ first: 0, step: last }];
  const program: Program = {
    inputs: [
      { dtype, count, source: { kind: "carried", checkpoint: checkpoints.length - 1 } },
      { dtype, count, source: { kind: "each" } },
      { dtype, count },
      { dtype: DType.int64, count: 1, source: { kind: "index" } },
    ],
    steps,
    checkpoints,
    ...(ranges === "two" ? { outputs: [1, 0], each: [1] } : { outputs: [0] }),
    maxStepGas: 1_000_000,
    maxStepBytes: 90_000,
  };
  const shape = [count];
  return knownProgram({
    program,
    programRoot: commitProgram(program).programRoot,
    constants: new Map([[root, constant]]),
    inputs: [
      { name: "state", dtype, shape },
      { name: "x", dtype, shape },
      { name: "seed", dtype, shape },
      { name: "i", dtype: DType.int64, shape: [1] },
    ],
    outputs: program.outputs.map((_, k) => ({ name: k === 0 ? "next" : "a", dtype, shape })),
    origins: steps.map((_, s) => ({ node: `sum${s}`, operator: "Sum" })),
  });
}

/**
 * Returns the inputs for a job of `runProgram`: the tensors of `x` for all items in order, and no bytes for the index.
 */
export const runInputBytes = (items: number): Uint8Array[] => [
  int32Words(count, (k) => k * k),
  Buffer.concat(Array.from({ length: items }, (_, item) => int32Words(count, (k) => k + 1_000 * item))),
  int32Words(count, (k) => 7 * k),
  new Uint8Array(0),
];

const step = (index: number): TensorRef => ({ kind: "step", index, dtype, count });

/** Returns the sum of tensors, element by element. A single int64 counts as the same number for all elements. */
function sum(inputs: readonly TensorRef[]): Step {
  const code: Instruction[] = [];
  const slots = inputs.map((ref, slot) => {
    if (ref.dtype === dtype) return slot;
    code.push({ op: Op.cast, dtype: ref.dtype, a: slot, b: dtype, c: 0 });
    return inputs.length + code.length - 1;
  });
  let out = slots[0]!;
  for (const slot of slots.slice(1)) {
    code.push({ op: Op.add, dtype, a: out, b: slot, c: 0 });
    out = inputs.length + code.length - 1;
  }
  return {
    dtype,
    count,
    inputs,
    outDigits: [count],
    ...NO_REDUCTION,
    epilogueReads: inputs.map((ref, input) => ({
      input,
      fill: 0n,
      axes: ref.count === 1 ? [] : [axis(0, count, 1)],
    })),
    epilogue: { code, out },
  };
}
