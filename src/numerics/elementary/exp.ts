import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed } from "./expCore.ts";
import { toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN } from "../float32.ts";

const BITS_OF_128 = 0x43000000n;

/** e^x, correctly rounded: 0 at -Inf, Inf at Inf. Relative error before rounding: 2^-118. */
export function exp(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  // e^128 > 2^128 overflows, e^-128 < 2^-150 rounds to 0.
  if (magnitude >= BITS_OF_128) return negative ? 0n : INFINITY_;
  const t = toFixed(mantissa, exponent);
  const power = expFixed(negative ? -t : t);
  return roundEnclosure(float, false, power.mantissa, power.exponent);
}
