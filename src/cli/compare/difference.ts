import { floatValue } from "../../compiler/words.ts";
import { DType, isFloat, readWord } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../onnx/model.ts";

/** How far two tensors of one type and shape are apart. */
export type Difference = {
  /** The largest |a - b|; Infinity where one is NaN or infinite and the other is not that. */
  absolute: number;
  /** The largest distance in float32 numbers; undefined if they are no floats. */
  ulps: bigint | undefined;
  /** The first element that is outside the tolerance. */
  first: number | undefined;
};

/**
 * float32 tolerance between exact execution and an engine that rounds in between: what it may be off by in relation to an element, and to
 * the tensor's largest one (sums cancel).
 */
const RELATIVE = 1e-3;
export const OF_LARGEST = 1e-5;

/** Compares element by element. Integers and bools have no tolerance. @param ofLargest Allowed in relation to the largest element. @param absolute Allowed anyhow. */
export function differenceOf(own: TensorData, other: TensorData, ofLargest = OF_LARGEST, absolute = 0): Difference {
  const float = isFloat(own.dtype) && own.dtype === DType.float32;
  const count = elementCount(own.shape);
  const number = (tensor: TensorData, i: number): number => {
    const word = readWord(tensor.bytes, i, tensor.dtype);
    return float ? floatValue(word) : Number(word);
  };
  let largest = 0;
  for (let i = 0; float && i < count; i++) {
    const value = Math.abs(number(other, i));
    if (value < Infinity) largest = Math.max(largest, value);
  }
  const result: Difference = { absolute: 0, ulps: float ? 0n : undefined, first: undefined };
  for (let i = 0; i < count; i++) {
    const [a, b] = [readWord(own.bytes, i, own.dtype), readWord(other.bytes, i, other.dtype)];
    if (a === b) continue;
    const [x, y] = [number(own, i), number(other, i)];
    const apart = Number.isFinite(x) && Number.isFinite(y) ? Math.abs(x - y) : Infinity;
    result.absolute = Math.max(result.absolute, apart);
    if (result.ulps !== undefined) {
      const ulps = ordered(a) - ordered(b);
      const distance = ulps < 0n ? -ulps : ulps;
      if (distance > result.ulps) result.ulps = distance;
    }
    const allowed = float ? RELATIVE * Math.abs(y) + ofLargest * largest + absolute : 0;
    if (!(apart <= allowed)) result.first ??= i;
  }
  return result;
}

/** float32 bits as an integer that grows with the number. */
const ordered = (bits: bigint): bigint => (bits < 0x80000000n ? bits : 0x80000000n - bits);
