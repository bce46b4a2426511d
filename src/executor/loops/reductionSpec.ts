import type { DType } from "../../numerics/dtype.ts";
import type { Reduce } from "../../program/types.ts";
import type { LoopDigit, LoopSpec } from "./spec.ts";

/**
 * A reduction computed where its terms are: for each combination of out digits, the terms of all combinations of
 * reduction digits are evaluated and folded. All reductions but partial ones and totals. Reads and slots are as in a
 * {@link LoopSpec}, digits those of both lists.
 */
export type ReductionSpec = Pick<LoopSpec, "reads" | "sourceTypes" | "constants" | "code"> & {
  outDigits: readonly LoopDigit[];
  redDigits: readonly LoopDigit[];
  reduce: Reduce;
  /** The type of the terms. */
  reduceType: DType;
  /** The term's slots; `outB` is used by dot and last alone. */
  outA: number;
  outB: number;
  /** For each out digit, by how many elements it moves the place where results are stored; row-major unless given. */
  outStrides?: readonly number[];
};
