import { numberWord } from "../../numerics/numbers.ts";
import { DType, dtypeBytes, isFloat, writeWord } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import type { TensorInfo } from "../../program/compiled.ts";
import type { Random } from "./random.ts";

/** Integers are mostly indices and token numbers: small values stay inside the range of the selected tensor. */
const SMALL = 16;

/** A tensor for an input: floats in -1 .. 1, 8-bit integers of all values, bools, other integers from 0 to 15. */
export function randomInput({ dtype, shape }: TensorInfo, random: Random): Uint8Array {
  const count = elementCount(shape);
  const bytes = new Uint8Array(count * dtypeBytes(dtype));
  for (let i = 0; i < count; i++) {
    if (isFloat(dtype)) writeWord(bytes, i, dtype, numberWord(random(2 ** 24) / 2 ** 23 - 1, dtype));
    else writeWord(bytes, i, dtype, BigInt(random(dtype === DType.bool ? 2 : dtypeBytes(dtype) === 1 ? 256 : SMALL)));
  }
  return bytes;
}
