import * as ort from "onnxruntime-node";
import { bytesOf, readableArray } from "../../executor/arrays.ts";
import { DType, dtypeName } from "../../numerics/dtype.ts";
import type { TensorData } from "../../onnx/model.ts";

/** A tensor as onnxruntime takes it. */
export const toOrt = ({ dtype, shape, bytes }: TensorData): ort.Tensor =>
  new ort.Tensor(dtypeName(dtype) as ort.Tensor.Type, readableArray(Uint8Array.from(bytes), dtype) as never, [
    ...shape,
  ]);

const BY_NAME = new Map<string, DType>(Object.entries(DType));

/** A tensor that onnxruntime gives; undefined if its element type is not executed here. */
export function fromOrt(tensor: ort.Tensor): TensorData | undefined {
  const dtype = BY_NAME.get(tensor.type);
  if (dtype === undefined) return undefined;
  const bytes = Uint8Array.from(bytesOf(tensor.data as Parameters<typeof bytesOf>[0]));
  return { dtype, shape: tensor.dims, bytes };
}
