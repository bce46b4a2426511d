import type { Word } from "../dtype.ts";
import { convertWord, type FloatArithmetic } from "../float.ts";
import { FLOAT32 } from "../format.ts";
import { roundToFormat } from "../round.ts";

/**
 * Rounds an approximation `v = mantissa * 2^exponent > 0` (negated if `negative`) of a real number within v(1 - 2^-100)
 * .. v(1 + 2^-100).
 *
 * If both ends round alike, the result is correctly rounded. Otherwise the enclosure holds a rounding boundary (the
 * midpoint of two neighbouring float32, or of the largest one and 2^128). By definition, the number then equals the
 * boundary and rounds to the neighbour with the even significand. The words of two neighbours are consecutive integers
 * with the significand's last bit as their last bit (zero and Infinity are even), and the function therefore returns
 * the even word. For the univariate functions this case never happens (the closest distance to a boundary is 2^-78
 * relative); for pow the case happens exactly for its exact midpoints.
 *
 * @param float The type rounded to: float32, or a subset (float16 or bfloat16).
 * @returns The result as a float32 word.
 */
export function roundEnclosure(float: FloatArithmetic, negative: boolean, mantissa: bigint, exponent: number): Word {
  const halfWidth = mantissa >> 100n;
  const low = roundToFormat(float.format, negative, mantissa - halfWidth, exponent);
  const high = roundToFormat(float.format, negative, mantissa + halfWidth, exponent);
  const rounded = low === high || (low & 1n) === 0n ? low : high;
  return float.format === FLOAT32 ? rounded : convertWord(rounded, float, FLOAT32);
}
