import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expBoth } from "./expCore.ts";
import { BITS_OF_2_TO_MINUS_12, toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_INFINITY } from "../float32.ts";

const BITS_OF_90 = 0x42b40000n;

/**
 * The hyperbolic sine, correctly rounded: +-Inf at +-Inf, x below 2^-12.
 *
 * (e^|x| - e^-|x|)/2; the difference is at least 2^-11 where it is off by 12 units of 2^-126. From 90 on,
 * e^|x|/2 > 2^128. Relative error before rounding: below 2^-111.
 */
export function sinh(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_90) return negative ? NEG_INFINITY : INFINITY_;
  const power = expBoth(toFixed(mantissa, exponent));
  return roundEnclosure(float, negative, power.growing - power.decaying, power.exponent - 1);
}
