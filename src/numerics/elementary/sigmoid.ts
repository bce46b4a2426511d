import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed } from "./expCore.ts";
import { FRACTION, FIXED_ONE, toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, ONE } from "../float32.ts";

const BITS_OF_104 = 0x42d00000n;

/**
 * The logistic function 1/(1 + e^-x), correctly rounded: 0 at -Inf, 1 at Inf.
 *
 * With u = e^-|x| it is 1/(1 + u) for x >= 0 and u/(1 + u) below, where u keeps its own exponent so that small results
 * keep their precision. Beyond 104, u < 2^-150: the result is 0 or 1. Relative error before rounding: below 2^-117.
 */
export function sigmoid(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_104) return negative ? 0n : ONE;
  const power = expFixed(-toFixed(mantissa, exponent));
  const denominator = FIXED_ONE + (power.mantissa >> BigInt(-power.exponent - FRACTION));
  if (negative) return roundEnclosure(float, false, (power.mantissa << 126n) / denominator, power.exponent);
  return roundEnclosure(float, false, (FIXED_ONE << 126n) / denominator, -FRACTION);
}
