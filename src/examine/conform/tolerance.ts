import { wordNumber } from "../../numerics/numbers.ts";
import { floatFormat, isFloat, readWord } from "../../numerics/dtype.ts";
import { narrowLayout, narrowNumber } from "../../numerics/narrow.ts";
import { elementCount, type TensorData } from "../../model/onnx/model.ts";

/** How far a float element may be from what is expected: `atol + rtol * |expected|`. */
type Tolerance = {
  rtol: number;
  atol: number;
  /** Whether an expected value below the rounding unit of the tensor's largest element may be any such value. */
  noise?: true;
};

/** The default tolerance of the ONNX backend tests. */
const STANDARD: Tolerance = { rtol: 1e-3, atol: 1e-7, noise: true };

/**
 * Returns the rounding unit of a tensor's largest element. Expected values up to the unit count as noise: roundings
 * leave such a value when a sum cancels, and the exact result is 0 or another noise value.
 */
function noiseOf({ bytes, dtype, shape }: TensorData): number {
  if (!isFloat(dtype)) return 0;
  let largest = 0;
  for (let i = 0; i < elementCount(shape); i++) {
    const value = Math.abs(wordNumber(readWord(bytes, i, dtype), dtype));
    if (Number.isFinite(value) && value > largest) largest = value;
  }
  return largest * 2 ** -floatFormat(dtype).fractionBits;
}

/**
 * Finds the first element where `got` differs from `expected`. Floats have a tolerance: the relative tolerance is at
 * least the distance between two neighbouring numbers of the type, and a noise value matches any noise. Other types
 * must match exactly.
 * @returns a description, or undefined if no element differs
 */
export function firstDifference(
  got: TensorData,
  expected: TensorData,
  { rtol, atol, noise: isNoiseTaken }: Tolerance = STANDARD,
): string | undefined {
  const { dtype, narrow } = got;
  const isNarrowFloat = narrow !== undefined && narrowLayout(narrow).float !== undefined;
  const relative = isFloat(dtype) ? Math.max(rtol, 2 ** -floatFormat(dtype).fractionBits) : 0;
  const noise = isNoiseTaken ? noiseOf(expected) : 0;
  for (let i = 0; i < elementCount(expected.shape); i++) {
    const [a, b] = [readWord(got.bytes, i, got.dtype), readWord(expected.bytes, i, expected.dtype)];
    if (a === b) continue;
    if (isNarrowFloat) {
      const [x, y] = [narrowNumber(narrow, Number(a)), narrowNumber(narrow, Number(b))];
      if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
      return `element ${i} is ${x}, expected ${y}`;
    }
    if (!isFloat(dtype)) return `element ${i} is ${a}, expected ${b}`;
    const [x, y] = [wordNumber(a, dtype), wordNumber(b, dtype)];
    const isNoise = Math.abs(x) <= noise && Math.abs(y) <= noise;
    if (!isNoise && !(Math.abs(x - y) <= atol + relative * Math.abs(y))) return `element ${i} is ${x}, expected ${y}`;
  }
  return undefined;
}
