import type { Word } from "../dtype.ts";
import { roundEnclosure } from "./enclosure.ts";
import { expFixed, expm1Quotient } from "./expCore.ts";
import { FIXED_ONE, FRACTION, toFixed } from "./fixed.ts";
import { decode, FLOAT32_ARITHMETIC, INFINITY_, NAN, NEG_ONE } from "../float32.ts";

const BITS_OF_2_TO_MINUS_25 = 0x33000000n;
const BITS_OF_QUARTER = 0x3e800000n;
const BITS_OF_89 = 0x42b20000n;

/**
 * e^x - 1, correctly rounded: -1 at -Inf, Inf at Inf.
 *
 * Below 2^-25, |expm1(x)/x - 1| < 2^-25.9 is less than half an ulp: the result is x. Below 1/4 it is x times the
 * quotient (e^x - 1)/x. From there on |e^x - 1| is at least 0.22 and e^x/5, so that the errors of e^x (2^-118 relative)
 * and its cut cost 2^-115. From 89 on, e^x > 2^128, e^-x < 2^-128.
 */
export function expm1(x: Word, float = FLOAT32_ARITHMETIC): Word {
  const magnitude = x & 0x7fffffffn;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_25) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_89) return negative ? NEG_ONE : INFINITY_;
  const t = toFixed(mantissa, exponent);
  const r = negative ? -t : t;
  if (magnitude < BITS_OF_QUARTER)
    return roundEnclosure(float, negative, mantissa * expm1Quotient(r), exponent - FRACTION);
  const result = expFixed(r);
  const power = toFixed(result.mantissa, result.exponent);
  return roundEnclosure(float, negative, negative ? FIXED_ONE - power : power - FIXED_ONE, -FRACTION);
}
