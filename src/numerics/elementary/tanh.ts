import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed } from "./expCore.ts";
import { BITS_OF_2_TO_MINUS_12, FRACTION, FIXED_ONE, toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_ONE, ONE } from "../float32.ts";

const BITS_OF_16 = 0x41800000n;

/**
 * The hyperbolic tangent, correctly rounded: +-1 at +-Inf.
 *
 * Below 2^-12 the result is x. From 16 on, 1 - |tanh x| < 2 e^-32 < 2^-25: the result is +-1. Between, tanh
 * |x| = (1 - u)/(1 + u) with u = e^(-2|x|), which is off by less than 7 units of 2^-126 where n = 0 in expFixed and
 * 1 - u >= 2^-11.01, and by less than 32 where 1 - u >= 0.29. Relative error before rounding: below 2^-111.
 */
export function tanh(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_16) return negative ? NEG_ONE : ONE;
  const power = expFixed(-toFixed(mantissa, exponent + 1));
  const u = power.mantissa >> BigInt(-power.exponent - FRACTION);
  return roundEnclosure(float, negative, ((FIXED_ONE - u) << 126n) / (FIXED_ONE + u), -FRACTION);
}
