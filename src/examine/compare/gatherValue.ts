import { dtypeBytes } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../model/onnx/model.ts";
import type { ValueLocation } from "../../program/compiled.ts";

/** Returns a value of the ONNX graph in row-major order, taken from the step tensor that holds the value. */
export function gatherValue(location: ValueLocation, tensor: Uint8Array): TensorData {
  const { dtype, shape } = location;
  const size = dtypeBytes(dtype);
  const bytes = new Uint8Array(elementCount(shape) * size);
  eachOffset(location, (offset, i) => {
    for (let k = 0; k < size; k++) bytes[i * size + k] = tensor[offset * size + k]!;
  });
  return { dtype, shape, bytes };
}

/** The same of a tensor of numbers. */
export function gatherNumbers(location: ValueLocation, tensor: Float64Array): Float64Array {
  const numbers = new Float64Array(elementCount(location.shape));
  eachOffset(location, (offset, i) => (numbers[i] = tensor[offset]!));
  return numbers;
}

/** Calls back with the place of each element, in row-major order. */
function eachOffset({ shape, strides }: ValueLocation, visit: (offset: number, index: number) => void): void {
  const count = elementCount(shape);
  const index = shape.map(() => 0);
  let offset = 0;
  for (let i = 0; i < count; i++) {
    visit(offset, i);
    for (let d = shape.length - 1; d >= 0; d--) {
      offset += strides[d]!;
      if (++index[d]! < shape[d]!) break;
      offset -= strides[d]! * shape[d]!;
      index[d] = 0;
    }
  }
}
