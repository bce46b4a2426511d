import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12 } from "./fixed.ts";
import { logPositive } from "./logCore.ts";
import { integerSqrt } from "../float.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN } from "../float32.ts";

/**
 * The inverse hyperbolic sine, correctly rounded: +-Inf at +-Inf, x below 2^-12.
 *
 * log(|x| + sqrt(x^2 + 1)). With `fraction` fraction bits |x| is an exact integer below 2^124 (where `fraction` < 0,
 * the 1 under the root vanishes), and the sum, at least 2^124, is off by less than 1 unit for the root: 2^-124
 * relative, absolute in the logarithm, which is at least 2^-12.1. Relative error before rounding: below 2^-111.
 */
export function asinh(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  if (magnitude === INFINITY_) return x;
  const { negative, mantissa, exponent } = decode(x);
  const fraction = 100 - Math.max(exponent, -24);
  const scaled = mantissa << BigInt(exponent + fraction);
  const one = fraction >= 0 ? 1n << BigInt(2 * fraction) : 0n;
  const log = logPositive(scaled + integerSqrt(scaled * scaled + one), -fraction);
  return roundEnclosure(float, negative, log.mantissa, log.exponent);
}
