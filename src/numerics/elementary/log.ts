import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { logPositive } from "./logCore.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_INFINITY } from "../float32.ts";

/**
 * The natural logarithm, correctly rounded: -Inf at 0, NaN below 0, Inf at Inf. Relative error before rounding: 2^-122.
 */
export function log(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude === 0n) return NEG_INFINITY;
  const { negative, mantissa, exponent } = decode(x);
  if (negative) return NAN;
  if (magnitude === INFINITY_) return INFINITY_;
  const result = logPositive(mantissa, exponent);
  return roundEnclosure(float, result.negative, result.mantissa, result.exponent);
}
