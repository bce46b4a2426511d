import { wordNumber } from "../../numerics/numbers.ts";
import { floatFormat, isFloat, readWord, type DType } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../model/onnx/model.ts";

/** The difference between two tensors of the same type and shape. */
export type Difference = {
  /** The largest |a - b|; Infinity if only one value is NaN or infinite, or if both differ in kind. */
  absolute: number;
  /** The largest distance in numbers of their type; undefined if they are no floats. */
  ulps: bigint | undefined;
  /** The first element that is outside the tolerance. */
  first: number | undefined;
};

/**
 * The tolerance between exact execution and an engine with intermediate rounding: the allowed difference in relation to
 * an element, and in relation to the tensor's largest element (sums cancel). For 16-bit types the two tolerances are at
 * least four times and once the distance between neighbouring numbers.
 */
const RELATIVE = 1e-3;
export const OF_LARGEST = 1e-5;

/**
 * Compares element by element. Integers and bools have no tolerance.
 * @param ofLargest Allowed in relation to the largest element.
 * @param absolute Allowed in any case.
 */
export function differenceOf(own: TensorData, other: TensorData, ofLargest = OF_LARGEST, absolute = 0): Difference {
  const float = isFloat(own.dtype);
  const unit = float ? 2 ** -floatFormat(own.dtype).fractionBits : 0;
  const relative = Math.max(RELATIVE, 4 * unit);
  const count = elementCount(own.shape);
  const number = (tensor: TensorData, i: number): number => {
    const word = readWord(tensor.bytes, i, tensor.dtype);
    return float ? wordNumber(word, own.dtype) : Number(word);
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
    // A runtime's NaN may have any bits.
    if (Number.isNaN(x) && Number.isNaN(y)) continue;
    // Integers above 2^53 are no numbers of JavaScript: they are subtracted as they are.
    const exactly = Number(a > b ? a - b : b - a);
    const apart = !float ? exactly : Number.isFinite(x) && Number.isFinite(y) ? Math.abs(x - y) : Infinity;
    result.absolute = Math.max(result.absolute, apart);
    if (result.ulps !== undefined) {
      const ulps = ordered(a, own.dtype) - ordered(b, own.dtype);
      const distance = ulps < 0n ? -ulps : ulps;
      if (distance > result.ulps) result.ulps = distance;
    }
    const allowed = float ? relative * Math.abs(y) + Math.max(ofLargest, unit) * largest + absolute : 0;
    if (!(apart <= allowed)) result.first ??= i;
  }
  return result;
}

/** Returns a float's bits in the form of an integer that grows with the number. */
function ordered(bits: bigint, dtype: DType): bigint {
  const { sign } = floatFormat(dtype);
  return bits < sign ? bits : sign - bits;
}
