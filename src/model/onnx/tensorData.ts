import { DType, dtypeBytes, writeWord } from "../../numerics/dtype.ts";
import { numberWord } from "../../numerics/numbers.ts";
import type { TensorData } from "./model.ts";

/** A float32 tensor from numbers, each rounded to float32. */
export function floatTensor(values: readonly number[], shape: readonly number[] = [values.length]): TensorData {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setFloat32(4 * i, value, true));
  return { dtype: DType.float32, shape, bytes };
}

/** An int64 tensor from integers. */
export function int64Tensor(
  values: readonly (number | bigint)[],
  shape: readonly number[] = [values.length],
): TensorData {
  const bytes = new Uint8Array(values.length * 8);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setBigInt64(8 * i, BigInt(value), true));
  return { dtype: DType.int64, shape, bytes };
}

/** Makes a tensor of any type from numbers. For float types, each number is rounded to the type. */
export function numberTensor(
  dtype: DType,
  values: readonly number[],
  shape: readonly number[] = [values.length],
): TensorData {
  const bytes = new Uint8Array(values.length * dtypeBytes(dtype));
  values.forEach((value, i) => writeWord(bytes, i, dtype, numberWord(value, dtype)));
  return { dtype, shape, bytes };
}
