import type { DType } from "../../numerics/dtype.ts";
import type { Constant, Instruction, View } from "../../program/types.ts";

/** One loop: a digit of the step and how many values it takes. */
export type LoopDigit = { digit: number; radix: number };

/**
 * A nest of loops over some digits, outermost first, that evaluates an expression for each combination and stores
 * `outs`. Slots are numbered as in an epilogue without accumulators: reads, constants, one an instruction. A digit that
 * is not looped over counts as 0: nothing the outs need may depend on it.
 */
export type LoopSpec = {
  digits: readonly LoopDigit[];
  /** `view.input` is the number of a source. */
  reads: readonly View[];
  sourceTypes: readonly DType[];
  constants: readonly Constant[];
  code: readonly Instruction[];
  outs: readonly number[];
  /** Outs, by their place in `outs`, that are float32 and stored as float64. */
  widened?: readonly number[];
  /** For each of `digits`, by how many elements it moves the place where results are stored; row-major unless given. */
  outStrides?: readonly number[];
  /** The place in `digits` of the one of which a call does some values; the first unless given. */
  ranged?: number;
};
