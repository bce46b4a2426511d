import type { Word } from "../dtype.ts";
import { atanQuotient, subtractFrom } from "./atanCore.ts";
import { roundEnclosure } from "./enclosure.ts";
import { FIXED_ONE, PI_OVER_2, toFixed } from "./fixed.ts";
import { integerSqrt } from "../float.ts";
import { decode, FLOAT32_ARITHMETIC, NAN, ONE } from "../float32.ts";

/**
 * The arccosine, correctly rounded: NaN beyond +-1, 0 at 1.
 *
 * atan(sqrt(1 - x^2)/|x|), and for a negative x its difference from pi. |x| in Q126 and the root are off by less than 1
 * unit; next to 1 the root, and with it the result, falls to 2^-11.5. Relative error before rounding: below 2^-114.
 */
export function acos(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > ONE) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  const cosine = toFixed(mantissa, exponent);
  const sine = integerSqrt((FIXED_ONE << 126n) - cosine * cosine);
  const acute = atanQuotient(sine, cosine);
  const angle = negative ? subtractFrom(2n * PI_OVER_2, acute) : acute;
  return roundEnclosure(float, false, angle.mantissa, angle.exponent);
}
