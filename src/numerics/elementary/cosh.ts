import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expBoth } from "./expCore.ts";
import { toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN } from "../float32.ts";

const BITS_OF_90 = 0x42b40000n;

/**
 * The hyperbolic cosine, correctly rounded: Inf at +-Inf. (e^|x| + e^-|x|)/2; from 90 on it is above 2^128. Relative
 * error before rounding: below 2^-117.
 */
export function cosh(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude >= BITS_OF_90) return INFINITY_;
  const { mantissa, exponent } = decode(x);
  const power = expBoth(toFixed(mantissa, exponent));
  return roundEnclosure(float, false, power.growing + power.decaying, power.exponent - 1);
}
