import type { Hash } from "./merkle/hash.ts";
import type { DType } from "../numerics/dtype.ts";
import type { NarrowType } from "../numerics/narrow.ts";
import type { Program } from "./types.ts";

/**
 * A named tensor of a compiled model, in ONNX's shape and row-major order. Where ONNX's type is a narrow one, a byte
 * stands for each element (src/numerics/narrow.ts). A bounded output has room for more along an axis than there is:
 * another output, int64[1], counts.
 */
export type TensorInfo = {
  name: string;
  dtype: DType;
  shape: readonly number[];
  narrow?: NarrowType;
  bounded?: { axis: number; count: string };
};

/** Where a value of the ONNX graph lies: element [i0, i1, ...] is element sum(i * stride) of the step's tensor. */
export type ValueLocation = { step: number; dtype: DType; shape: readonly number[]; strides: readonly number[] };

/** The compiler's result: the committed program, its constants, and local knowledge that is not committed. */
export type CompiledModel = {
  program: Program;
  programRoot: Hash;
  /**
   * Constant tensors by their root: canonical, little-endian, row-major. An executor lets them lie in its memory, so
   * that they are not kept twice: the same bytes at another place.
   */
  constants: Map<Hash, Uint8Array>;
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
  /** Outputs of the model that have no elements: known when it is compiled, and none of the program's. */
  emptyOutputs?: readonly TensorInfo[];
  /** For each step, the ONNX node that it computes last and the operators that it fuses, for people to read. */
  origins: readonly { node: string; operator: string }[];
  /**
   * The values of the ONNX graph that a step holds whole, by name. Absent where a program was not compiled from ONNX.
   */
  valueLocations?: ReadonlyMap<string, ValueLocation>;
};
