import type { DType } from "../../numerics/dtype.ts";
import type { Constant, Instruction, View } from "../../program/types.ts";

/** One loop: a step's digit and the digit's value count. */
export type LoopDigit = { digit: number; radix: number };

/**
 * A nest of loops over some digits, outermost first. It evaluates an expression for each combination and stores `outs`.
 * Slots are numbered as in an epilogue without accumulators: reads, constants, then one slot for each instruction. A
 * digit without a loop counts as 0: the outs may not depend on that digit.
 */
export type LoopSpec = {
  digits: readonly LoopDigit[];
  /** `view.input` is the number of a source. */
  reads: readonly View[];
  sourceTypes: readonly DType[];
  /** The memory number of each source; by default 0, the memory of everything else. */
  sourceMemories?: readonly number[];
  constants: readonly Constant[];
  code: readonly Instruction[];
  outs: readonly number[];
  /** The outs, by their index in `outs`, that are float32 and stored as float64. */
  widened?: readonly number[];
  /** For each of `digits`, how many elements the digit moves the results; row-major by default. */
  outStrides?: readonly number[];
  /** The index in `digits` of the ranged digit; by default 0. A call runs only some of the ranged digit's values. */
  ranged?: number;
};
