import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12 } from "./fixed.ts";
import { sinShifted } from "./trigCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, ONE } from "../float32.ts";

/**
 * The cosine, correctly rounded: NaN at +-Inf. Below 2^-12, 1 - cos x < x^2/2 < 2^-25: the result is 1. Relative error
 * before rounding: 2^-122.
 */
export function cos(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude >= INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return ONE;
  const { mantissa, exponent } = decode(x);
  const result = sinShifted(mantissa, exponent, 1);
  return roundEnclosure(float, result.negative, result.mantissa, result.exponent);
}
