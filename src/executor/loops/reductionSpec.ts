import type { DType } from "../../numerics/dtype.ts";
import type { Reduce } from "../../program/types.ts";
import type { LoopDigit, LoopSpec } from "./spec.ts";

/**
 * A reduction that is computed without gathering its terms: for each combination of out digits, the terms of all
 * combinations of reduction digits are evaluated and folded. Partial reductions and totals are excluded. Reads and
 * slots are as in a {@link LoopSpec}, digits those of both lists.
 */
export type ReductionSpec = Pick<LoopSpec, "reads" | "sourceTypes" | "constants" | "code"> & {
  outDigits: readonly LoopDigit[];
  redDigits: readonly LoopDigit[];
  reduce: Reduce;
  /** The type of the terms. */
  reduceType: DType;
  /** The term's slots; only dot and last use `outB`. */
  outA: number;
  outB: number;
  /** For each out digit, the number of elements by which it moves the place of results; row-major by default. */
  outStrides?: readonly number[];
};
