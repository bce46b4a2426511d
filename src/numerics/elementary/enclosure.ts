import type { Word } from "../dtype.ts";
import { roundToFloat32 } from "../round.ts";

/**
 * Rounds an approximation `v = mantissa * 2^exponent > 0` (negated if `negative`) of a real number that lies within v(1 - 2^-100) .. v(1 + 2^-100).
 *
 * Where both ends round alike, that is the correctly rounded result. Otherwise the enclosure holds a rounding boundary (the midpoint
 * of two neighbouring float32, or of the largest one and 2^128) and, by definition, the number is taken to be that boundary: it rounds
 * to the neighbour with the even significand. The words of two neighbours are consecutive integers with the significand's last
 * bit as their last bit (zero and Infinity are even), so that is the even word. For the univariate functions this never happens
 * (the closest any of them comes to a boundary is 2^-78 relative); for pow it happens exactly for its exact midpoints.
 */
export function roundEnclosure(negative: boolean, mantissa: bigint, exponent: number): Word {
  const halfWidth = mantissa >> 100n;
  const low = roundToFloat32(negative, mantissa - halfWidth, exponent);
  const high = roundToFloat32(negative, mantissa + halfWidth, exponent);
  if (low === high) return low;
  return (low & 1n) === 0n ? low : high;
}
