import type { TensorProto } from "onnx-buf";
import { DType, dtypeName } from "../../numerics/dtype.ts";
import { narrowLayout, type NarrowType } from "../../numerics/narrow.ts";
import { elementCount, type TensorData } from "./model.ts";

/** Returns an element type's name for messages: the ONNX name, even if a byte represents the element. */
export const elementTypeName = ({ dtype, narrow }: { dtype: DType; narrow?: NarrowType | undefined }): string =>
  narrow ?? dtypeName(dtype);

/** Returns true if two tensors have the same ONNX element type. */
export const sameElementType = (
  a: { dtype: DType; narrow?: NarrowType | undefined },
  b: { dtype: DType; narrow?: NarrowType | undefined },
): boolean => a.dtype === b.dtype && a.narrow === b.narrow;

/**
 * Returns a narrow tensor's elements from the model. Four-bit integers stay two to a byte, the lower half first; all
 * other elements get a byte each.
 * @returns undefined if there are too few or too many bytes
 */
export function readNarrow(
  tensor: TensorProto,
  type: NarrowType,
  raw: Uint8Array,
  shape: readonly number[],
): TensorData | undefined {
  const { bits, storage, float } = narrowLayout(type);
  const bytes = raw.length > 0 ? raw : Uint8Array.from(tensor.int32Data);
  if (bytes.length !== Math.ceil((elementCount(shape) * bits) / 8)) return undefined;
  const packed = { dtype: storage, shape, bytes, narrow: type };
  if (bits === 8) return packed;
  return bits === 4 && float === undefined ? { ...packed, fourBits: true } : unpacked(packed);
}

/** The same tensor with a byte for each element. */
export function unpacked({ dtype, shape, bytes: packed, narrow }: TensorData & { narrow: NarrowType }): TensorData {
  const { bits } = narrowLayout(narrow);
  const bytes = new Uint8Array(elementCount(shape));
  const perByte = 8 / bits;
  for (let i = 0; i < bytes.length; i++) {
    const value = (packed[Math.floor(i / perByte)]! >> (bits * (i % perByte))) & (2 ** bits - 1);
    bytes[i] = dtype === DType.int8 && value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
  }
  return { dtype, shape, bytes, narrow };
}
