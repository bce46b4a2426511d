import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12, FRACTION } from "./fixed.ts";
import { logPositive } from "./logCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_INFINITY, ONE } from "../float32.ts";
import { bitLength } from "../round.ts";

/**
 * The inverse hyperbolic tangent, correctly rounded: +-Inf at +-1, NaN beyond, x below 2^-12.
 *
 * log((1 + |x|)/(1 - |x|))/2, where 1 + |x| and 1 - |x| are integers in units of x's last bit. Their quotient is cut to
 * 126 or 127 significant bits: 2^-125 relative, absolute in the logarithm, which is at least 2^-11. Relative error
 * before rounding: below 2^-113.
 */
export function atanh(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > ONE) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude === ONE) return negative ? NEG_INFINITY : INFINITY_;
  const one = 1n << BigInt(-exponent);
  const shift = FRACTION - bitLength(one + mantissa) + bitLength(one - mantissa);
  const quotient = ((one + mantissa) << BigInt(shift)) / (one - mantissa);
  const log = logPositive(quotient, -shift);
  return roundEnclosure(float, negative, log.mantissa, log.exponent - 1);
}
