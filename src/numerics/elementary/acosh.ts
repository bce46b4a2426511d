import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { logPositive } from "./logCore.ts";
import { integerSqrt } from "../float.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, ONE } from "../float32.ts";

/**
 * The inverse hyperbolic cosine, correctly rounded: NaN below 1, Inf at Inf.
 *
 * log(x + sqrt(x^2 - 1)). With `fraction` fraction bits, x is an exact integer in 2^123 .. 2^124 (for `fraction` < 0,
 * the 1 under the root vanishes). The root makes the sum off by less than 1 unit: 2^-123 relative, absolute in the
 * logarithm (at least 2^-11.1). Relative error before rounding: below 2^-111.
 */
export function acosh(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  if (negative || magnitude < ONE) return NAN;
  if (magnitude === ONE) return 0n;
  if (magnitude === INFINITY_) return INFINITY_;
  const fraction = 100 - exponent;
  const scaled = mantissa << 100n;
  const one = fraction >= 0 ? 1n << BigInt(2 * fraction) : 0n;
  const log = logPositive(scaled + integerSqrt(scaled * scaled - one), -fraction);
  return roundEnclosure(float, false, log.mantissa, log.exponent);
}
