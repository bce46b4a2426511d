import type { Hash } from "./merkle/hash.ts";
import type { DType } from "../numerics/dtype.ts";
import type { NarrowType } from "../numerics/narrow.ts";
import type { Program } from "./types.ts";

/**
 * A named tensor of a compiled model, in ONNX's shape and row-major order. For a narrow ONNX type, each element takes
 * one byte (src/numerics/narrow.ts). A bounded output has more room along an axis than elements: another output,
 * int64[1], gives the count.
 */
export type TensorInfo = {
  name: string;
  dtype: DType;
  shape: readonly number[];
  narrow?: NarrowType;
  bounded?: { axis: number; count: string };
};

/** The location of an ONNX graph value: element [i0, i1, ...] lies at element sum(i * stride) of the step's tensor. */
export type ValueLocation = { step: number; dtype: DType; shape: readonly number[]; strides: readonly number[] };

/** The compiler's result: the committed program, its constants, and uncommitted local data. */
export type CompiledModel = {
  program: Program;
  programRoot: Hash;
  /**
   * Constant tensors by their root: canonical, little-endian, row-major. An executor moves the constants into its
   * memory to avoid duplicates: the same bytes at another place.
   */
  constants: Map<Hash, Uint8Array>;
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
  /** Outputs of the model without elements: known at compile time, and not among the program's outputs. */
  emptyOutputs?: readonly TensorInfo[];
  /** For each step, the last ONNX node that the step computes and the fused operators, for people to read. */
  origins: readonly { node: string; operator: string }[];
  /** The ONNX graph values that a step holds whole, by name. Absent if the program was not compiled from ONNX. */
  valueLocations?: ReadonlyMap<string, ValueLocation>;
};
