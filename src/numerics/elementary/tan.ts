import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12, FRACTION } from "./fixed.ts";
import { cosTheta, reduceAngle, sinTheta } from "./trigCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN } from "../float32.ts";

/**
 * The tangent, correctly rounded: NaN at +-Inf, x below 2^-12.
 *
 * With |x| = quadrant pi/2 + theta it is sin theta/cos theta in even quadrants and -cos theta/sin theta in odd ones.
 * sin theta's mantissa is at least 2^250, so that the cuts cost 2^-124 each. Relative error before rounding: below
 * 2^-120.
 */
export function tan(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude >= INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  const angle = reduceAngle(mantissa, exponent);
  const sine = sinTheta(angle);
  const cosine = cosTheta(angle);
  const below = negative !== angle.negative;
  if ((angle.quadrant & 1) === 0) return roundEnclosure(float, below, sine.mantissa / cosine, sine.exponent + FRACTION);
  const quotient = (cosine << 126n) / (sine.mantissa >> 126n);
  return roundEnclosure(float, !below, quotient, -3 * FRACTION - sine.exponent);
}
