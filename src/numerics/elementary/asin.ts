import type { Word } from "../dtype.ts";
import { atanQuotient } from "./atanCore.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12, FIXED_ONE, toFixed } from "./fixed.ts";
import { integerSqrt } from "../float.ts";
import { decode, FLOAT32_ARITHMETIC, NAN, ONE } from "../float32.ts";

/**
 * The arcsine, correctly rounded: NaN beyond +-1, x below 2^-12.
 *
 * atan(x/sqrt(1 - x^2)): x is exact in Q126 and the root is off by less than 1 unit. Up to sqrt(1/2), the quotient is
 * therefore off by 2^-125.5 relative. Beyond, where the result is at least pi/4, the quotient's inverse is off by
 * 2^-125.5 absolute. Relative error before rounding: below 2^-121.
 */
export function asin(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > ONE) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  const sine = toFixed(mantissa, exponent);
  const cosine = integerSqrt((FIXED_ONE << 126n) - sine * sine);
  const angle = atanQuotient(sine, cosine);
  return roundEnclosure(float, negative, angle.mantissa, angle.exponent);
}
