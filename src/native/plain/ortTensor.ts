import type * as ort from "onnxruntime-node";
import { onnxruntime } from "../../executor/engine/binding.ts";
import { bytesOf, readableArray } from "../../executor/arrays.ts";
import { DType, dtypeName } from "../../numerics/dtype.ts";
import type { TensorData } from "../../model/onnx/model.ts";

/** A tensor as onnxruntime takes it. */
export function toOrt({ dtype, shape, bytes }: TensorData): ort.Tensor {
  const array = readableArray(Uint8Array.from(bytes), dtype);
  const name = dtypeName(dtype);
  // Where JavaScript has a Float16Array, the class makes one that the native engine cannot read: the bits are given as
  // uint16 and renamed.
  const tensor = new (onnxruntime().Tensor)((name === "float16" ? "uint16" : name) as ort.Tensor.Type, array as never, [
    ...shape,
  ]);
  if (name === "float16") Object.defineProperty(tensor, "type", { value: name });
  return tensor;
}

const BY_NAME = new Map<string, DType>(Object.entries(DType));

/** Converts an onnxruntime tensor; returns undefined for element types not executed here. */
export function fromOrt(tensor: ort.Tensor): TensorData | undefined {
  const dtype = BY_NAME.get(tensor.type);
  if (dtype === undefined) return undefined;
  const bytes = Uint8Array.from(bytesOf(tensor.data as Parameters<typeof bytesOf>[0]));
  return { dtype, shape: tensor.dims, bytes };
}
