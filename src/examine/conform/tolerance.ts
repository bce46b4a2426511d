import { wordNumber } from "../../numerics/numbers.ts";
import { floatFormat, isFloat, readWord } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../onnx/model.ts";

/** How far a float element may be from what is expected: `atol + rtol * |expected|`. */
export type Tolerance = { rtol: number; atol: number };

/** What the ONNX backend tests allow where a case says nothing else. */
export const STANDARD: Tolerance = { rtol: 1e-3, atol: 1e-7 };

/**
 * The cases that need another tolerance, by folder name, each with its reason. Expected values there are float32 sums
 * in another engine's order, which cancel to nearly nothing; the exact result is the nearer one to the real number.
 */
const OTHERS: Readonly<Record<string, Tolerance>> = {};

/** The tolerance of a case. */
export const toleranceOf = (name: string): Tolerance => OTHERS[name] ?? STANDARD;

/**
 * The first element where `got` is not `expected`: within the tolerance for floats (in relation never less than the
 * distance of two neighbouring numbers of their type), exactly for other types.
 * @returns a description, or undefined if there is none
 */
export function firstDifference(
  got: TensorData,
  expected: TensorData,
  { rtol, atol }: Tolerance = STANDARD,
): string | undefined {
  const { dtype } = got;
  const relative = isFloat(dtype) ? Math.max(rtol, 2 ** -floatFormat(dtype).fractionBits) : 0;
  for (let i = 0; i < elementCount(expected.shape); i++) {
    const [a, b] = [readWord(got.bytes, i, got.dtype), readWord(expected.bytes, i, expected.dtype)];
    if (a === b) continue;
    if (!isFloat(dtype)) return `element ${i} is ${a}, expected ${b}`;
    const [x, y] = [wordNumber(a, dtype), wordNumber(b, dtype)];
    if (!(Math.abs(x - y) <= atol + relative * Math.abs(y))) return `element ${i} is ${x}, expected ${y}`;
  }
  return undefined;
}
