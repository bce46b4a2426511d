import type { Hash } from "./merkle/hash.ts";
import type { DType } from "../numerics/dtype.ts";
import type { Op } from "./operations.ts";

/** A tensor that a step reads: a job input, a constant (by tensor root) or an earlier step. `count` is in elements. */
export type TensorRef =
  | { kind: "input"; index: number; dtype: DType; count: number }
  | { kind: "constant"; root: Hash; dtype: DType; count: number }
  | { kind: "step"; index: number; dtype: DType; count: number };

/** One axis of a view: the coordinate `(base + sum(coeff * digit) [+ index]) / div`, bounded by `extent`. */
export type Axis = {
  extent: number;
  /** In elements of the input. */
  stride: number;
  base: number;
  /** 1, or a divisor that must divide the coordinate exactly (else the read gives the fill value). */
  div: number;
  /** An earlier read's number in the same list; the read's integer value is added to the coordinate. */
  indirect?: number;
  coeffs: readonly { digit: number; coeff: number }[];
};

/** The way to read one input for given digits (docs/program.md, "View"). */
export type View = { input: number; fill: bigint; axes: readonly Axis[] };

/** Operands are slot numbers; unused ones are 0. For `cast`, b is the target type; for `digit`, a is the digit. */
export type Instruction = { op: Op; dtype: DType; a: number; b: number; c: number };

export const Reduce = {
  none: 0,
  sum: 1,
  dot: 2,
  max: 3,
  min: 4,
  argmax: 5,
  argmin: 6,
  argmaxLast: 7,
  argminLast: 8,
  last: 9,
  partialSum: 10,
  partialDot: 11,
  total: 12,
  partialTotal: 13,
} as const;
export type ReduceName = keyof typeof Reduce;
export type Reduce = (typeof Reduce)[ReduceName];

export type Constant = { dtype: DType; value: bigint };

/** The one general form: out[i] = epilogue(reduce over r of term(reads(i, r)), reads(i)). */
export type Step = {
  /** The written tensor's type and element count; count = product of outDigits. */
  dtype: DType;
  count: number;
  inputs: readonly TensorRef[];
  outDigits: readonly number[];
  redDigits: readonly number[];
  reduce: Reduce;
  /** The operand type of the reduction; undefined if and only if reduce is none. */
  reduceType?: DType;
  constants: readonly Constant[];
  termReads: readonly View[];
  epilogueReads: readonly View[];
  term: { code: readonly Instruction[]; outA: number; outB: number };
  epilogue: { code: readonly Instruction[]; out: number };
};

/** A checkpoint: the tensor written by `step`, and the step range `[first .. step]` covered by the interior tree. */
export type Checkpoint = { first: number; step: number };

/**
 * Where an item of a run takes an input from (docs/program.md, "Run"). shared: a tensor of the job, the same for all
 * items; each: a tensor of the job for each item; carried: a checkpoint of the item before, for the first item a tensor
 * of the job; index: the item's number, one int64.
 */
export type InputSource =
  { kind: "shared" } | { kind: "each" } | { kind: "carried"; checkpoint: number } | { kind: "index" };

/** An input of a program. Without a source, it is shared. */
export type ProgramInput = { dtype: DType; count: number; source?: InputSource };

export type Program = {
  inputs: readonly ProgramInput[];
  steps: readonly Step[];
  checkpoints: readonly Checkpoint[];
  /** For each output, the number of its checkpoint. */
  outputs: readonly number[];
  /** The output numbers that every item in a run has; only the last item has the others. If absent, none. */
  each?: readonly number[];
  /** Estimated gas of the largest step proof. */
  maxStepGas: number;
  /** Upper bound, in bytes, on the largest transaction with a step proof. */
  maxStepBytes: number;
};
