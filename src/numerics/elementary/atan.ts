import type { Word } from "../dtype.ts";
import { atanQuotient } from "./atanCore.ts";
import { roundEnclosure } from "./enclosure.ts";
import { BITS_OF_2_TO_MINUS_12, FRACTION, PI_OVER_2 } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN } from "../float32.ts";

/** The arctangent, correctly rounded: +-pi/2 at +-Inf, x below 2^-12. Relative error before rounding: 2^-122. */
export function atan(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_12) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude === INFINITY_) return roundEnclosure(float, negative, PI_OVER_2, -FRACTION);
  const up = BigInt(Math.max(exponent, 0));
  const down = BigInt(Math.max(-exponent, 0));
  const angle = atanQuotient(mantissa << up, 1n << down);
  return roundEnclosure(float, negative, angle.mantissa, angle.exponent);
}
