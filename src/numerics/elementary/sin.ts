import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12 } from "./fixed.ts";
import { sinShifted } from "./trigCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN } from "../float32.ts";

/** The sine, correctly rounded: NaN at +-Inf, x below 2^-12. Relative error before rounding: 2^-122. */
export function sin(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude >= INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  const result = sinShifted(mantissa, exponent, 0);
  return roundEnclosure(float, negative !== result.negative, result.mantissa, result.exponent);
}
