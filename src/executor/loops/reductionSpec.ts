import type { DType } from "../../numerics/dtype.ts";
import type { Reduce } from "../../program/types.ts";
import type { LoopDigit, LoopSpec } from "./spec.ts";

/**
 * A reduction computed without gathering its terms. For each combination of out digits, the code evaluates and folds
 * the terms of all reduction digits' combinations. Partial reductions and totals are excluded. Reads and slots follow
 * {@link LoopSpec}; digits come from both lists.
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
  /** For each out digit, the number of elements by which the digit moves the results' place; row-major by default. */
  outStrides?: readonly number[];
};
