import type { DType } from "../../numerics/dtype.ts";
import type { Constant, Instruction, View } from "../../program/types.ts";

/** One loop: a digit of the step and how many values it takes. */
export type LoopDigit = { digit: number; radix: number };

/**
 * A nest of loops over some digits, outermost first, that evaluates an expression for each combination and stores
 * `outs`. Slots are numbered as in an epilogue without accumulators: reads, constants, then one for each instruction. A
 * digit that has no loop counts as 0: nothing that the outs need may depend on it.
 */
export type LoopSpec = {
  digits: readonly LoopDigit[];
  /** `view.input` is the number of a source. */
  reads: readonly View[];
  sourceTypes: readonly DType[];
  /** The number of the memory that each source lies in; by default 0, where everything else lies. */
  sourceMemories?: readonly number[];
  constants: readonly Constant[];
  code: readonly Instruction[];
  outs: readonly number[];
  /** The outs, by their index in `outs`, that are float32 and stored as float64. */
  widened?: readonly number[];
  /** For each of `digits`, the number of elements by which it moves the place of results; row-major by default. */
  outStrides?: readonly number[];
  /** The index in `digits` of the one of which a call runs only some values; by default 0. */
  ranged?: number;
};
