import { dtypeBytes } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../onnx/model.ts";
import type { ValueLocation } from "../../program/compiled.ts";

/** A value of the ONNX graph in row-major order, out of the tensor of the step that holds it. */
export function gatherValue({ dtype, shape, strides }: ValueLocation, tensor: Uint8Array): TensorData {
  const size = dtypeBytes(dtype);
  const count = elementCount(shape);
  const bytes = new Uint8Array(count * size);
  const index = shape.map(() => 0);
  let offset = 0;
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < size; k++) bytes[i * size + k] = tensor[offset * size + k]!;
    for (let d = shape.length - 1; d >= 0; d--) {
      offset += strides[d]!;
      if (++index[d]! < shape[d]!) break;
      offset -= strides[d]! * shape[d]!;
      index[d] = 0;
    }
  }
  return { dtype, shape, bytes };
}
