import type { Word } from "../dtype.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, NEG_INFINITY, NEG_ONE, ONE } from "../float64.ts";
import { expBoth, expFixed, expm1Quotient } from "./expCore.ts";
import {
  ARGUMENT_FRACTION,
  BITS_OF_1024,
  BITS_OF_2_TO_MINUS_27,
  FRACTION,
  over,
  roundWide,
  shifted,
  times,
  WIDE_ONE,
} from "./wide.ts";

const BITS_OF_2_TO_MINUS_54 = 0x3c90000000000000n;
const BITS_OF_QUARTER = 0x3fd0000000000000n;
const BITS_OF_32 = 0x4040000000000000n;
const BITS_OF_64 = 0x4050000000000000n;

/** e^x, correctly rounded: 0 at -Inf, Inf at Inf. Relative error before rounding: 2^-234. */
export function exp(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  // e^1024 overflows, e^-1024 < 2^-1075 rounds to 0.
  if (magnitude >= BITS_OF_1024) return negative ? 0n : INFINITY_;
  const t = shifted(mantissa, exponent + ARGUMENT_FRACTION);
  const power = expFixed(negative ? -t : t);
  return roundWide(false, power.mantissa, power.exponent);
}

/**
 * e^x - 1, correctly rounded: -1 at -Inf, Inf at Inf.
 *
 * Below 2^-54, |expm1(x)/x - 1| < 2^-54.9 is less than half an ulp: the result is x. Below 1/4 it is x times the
 * quotient (e^x - 1)/x. From there on |e^x - 1| is at least 0.22 and e^x/5, so that the errors of e^x (2^-234 relative)
 * and the cut of 1 cost 2^-231. e^-64 is far below half an ulp of 1.
 */
export function expm1(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_54) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= (negative ? BITS_OF_64 : BITS_OF_1024)) return negative ? NEG_ONE : INFINITY_;
  const t = shifted(mantissa, exponent + ARGUMENT_FRACTION);
  if (magnitude < BITS_OF_QUARTER)
    return roundWide(negative, times(mantissa << 199n, expm1Quotient(negative, t << 8n)), exponent - 199);
  const power = expFixed(negative ? -t : t);
  const n = power.exponent + FRACTION;
  if (negative) return roundWide(true, WIDE_ONE - shifted(power.mantissa, n), -FRACTION);
  return roundWide(false, power.mantissa - shifted(WIDE_ONE, -n), power.exponent);
}

/**
 * The logistic function 1/(1 + e^-x), correctly rounded: 0 at -Inf, 1 at Inf.
 *
 * With u = e^-|x| it is 1/(1 + u) for x >= 0 and u/(1 + u) below, where u keeps its own exponent so that small results
 * keep their precision. Relative error before rounding: below 2^-233.
 */
export function sigmoid(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_1024) return negative ? 0n : ONE;
  const power = expFixed(-shifted(mantissa, exponent + ARGUMENT_FRACTION));
  const denominator = WIDE_ONE + shifted(power.mantissa, power.exponent + FRACTION);
  return negative
    ? roundWide(false, over(power.mantissa, denominator), power.exponent)
    : roundWide(false, over(WIDE_ONE, denominator), -FRACTION);
}

/**
 * The hyperbolic tangent, correctly rounded: +-1 from 32 on (1 - tanh < 2^-91), x below 2^-27.
 *
 * With u = e^(-2|x|) it is (1 - u)/(1 + u). 1 - u is off by less than 5 units of 2^-252 where it is below 0.29, and at
 * least 2^-26.1 there: relative error before rounding below 2^-223.
 */
export function tanh(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_32) return negative ? NEG_ONE : ONE;
  const power = expFixed(-shifted(mantissa, exponent + 1 + ARGUMENT_FRACTION));
  const u = shifted(power.mantissa, power.exponent + FRACTION);
  return roundWide(negative, over(WIDE_ONE - u, WIDE_ONE + u), -FRACTION);
}

/**
 * The hyperbolic sine, correctly rounded: +-Inf at +-Inf, x below 2^-27. (e^|x| - e^-|x|)/2, a difference of at least
 * 2^-26 that is off by 12 units of 2^-252 where e^|x| is not halved: relative error before rounding below 2^-222.
 */
export function sinh(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude >= BITS_OF_1024) return negative ? NEG_INFINITY : INFINITY_;
  const power = expBoth(shifted(mantissa, exponent + ARGUMENT_FRACTION));
  return roundWide(negative, power.growing - power.decaying, power.exponent - 1);
}

/** The hyperbolic cosine, correctly rounded: Inf at +-Inf. (e^|x| + e^-|x|)/2; relative error below 2^-232. */
export function cosh(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude >= BITS_OF_1024) return INFINITY_;
  const { mantissa, exponent } = decode(x);
  const power = expBoth(shifted(mantissa, exponent + ARGUMENT_FRACTION));
  return roundWide(false, power.growing + power.decaying, power.exponent - 1);
}
