import type { Word } from "../dtype.ts";
import type { Scaled } from "../elementary/fixed.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, NEG_INFINITY, ONE } from "../float64.ts";
import { bitLength } from "../round.ts";
import { logPositive } from "./logCore.ts";
import { BITS_OF_2_TO_MINUS_27, FRACTION, over, roundWide, squareRoot } from "./wide.ts";

const BITS_OF_2_TO_MINUS_54 = 0x3c90000000000000n;

/** The natural logarithm, correctly rounded: -Inf at 0, NaN below 0, Inf at Inf. Relative error: 2^-242. */
export function log(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude === 0n) return NEG_INFINITY;
  const { negative, mantissa, exponent } = decode(x);
  if (negative) return NAN;
  if (magnitude === INFINITY_) return INFINITY_;
  const result = logPositive(mantissa, exponent);
  return roundWide(result.negative, result.mantissa, result.exponent);
}

/**
 * log(1 + x), correctly rounded: -Inf at -1, NaN below -1, Inf at Inf.
 *
 * Below 2^-54, |log1p(x)/x - 1| < 2^-54.9 is less than half an ulp: the result is x. Otherwise 1 + x is an integer
 * below 2^244 times a power of two, exactly, up to 2^243; beyond, the 1 is dropped, which changes the logarithm (above
 * 168) by less than 2^-243. Relative error before rounding: 2^-241.
 */
export function log1p(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_54) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (negative && magnitude >= ONE) return magnitude === ONE ? NEG_INFINITY : NAN;
  if (magnitude === INFINITY_) return INFINITY_;
  const sum = onePlus(negative, mantissa, exponent);
  const result = logPositive(sum.mantissa, sum.exponent);
  return roundWide(result.negative, result.mantissa, result.exponent);
}

/** 1 +- mantissa * 2^exponent. */
function onePlus(negative: boolean, mantissa: bigint, exponent: number): Scaled {
  if (exponent > 190) return { mantissa, exponent };
  if (exponent >= 0) return { mantissa: (mantissa << BigInt(exponent)) + 1n, exponent: 0 };
  const one = 1n << BigInt(-exponent);
  return { mantissa: negative ? one - mantissa : one + mantissa, exponent };
}

/**
 * The inverse hyperbolic sine, correctly rounded: +-Inf at +-Inf, x below 2^-27.
 *
 * log(|x| + sqrt(x^2 + 1)): `logOfRoot` is off by 2^-248 absolute, and the logarithm at least 2^-27.1. Relative error
 * before rounding: below 2^-220.
 */
export function asinh(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  if (magnitude === INFINITY_) return x;
  const { negative, mantissa, exponent } = decode(x);
  return logOfRoot(negative, mantissa, exponent, false);
}

/**
 * The inverse hyperbolic cosine, correctly rounded: NaN below 1, Inf at Inf.
 *
 * log(x + sqrt(x^2 - 1)): `logOfRoot` is off by 2^-248 absolute, and the logarithm at least 2^-25.6. Relative error
 * before rounding: below 2^-222.
 */
export function acosh(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  if (negative || magnitude < ONE) return NAN;
  if (magnitude === ONE) return 0n;
  if (magnitude === INFINITY_) return INFINITY_;
  return logOfRoot(false, mantissa, exponent, true);
}

/**
 * log(x + sqrt(x^2 +- 1)) rounded, for x = mantissa * 2^exponent >= 2^-27 (with 53 bits; above 1 for `minus`).
 *
 * From 2^122 on, the result is log(2x), less than 2^-246 away. Below, x and 1 are integers below 2^124 over one
 * exponent and the radicand is exact. The sum has 250 or 251 bits and is off by less than 2 units for the root: 2^-248
 * relative, which is absolute in the logarithm.
 */
function logOfRoot(negative: boolean, mantissa: bigint, exponent: number, minus: boolean): Word {
  if (exponent > 70) return roundLog(negative, mantissa, exponent + 1);
  const x = mantissa << BigInt(Math.max(exponent, 0));
  const one = 1n << BigInt(Math.max(-exponent, 0));
  const root = squareRoot(minus ? (x - one) * (x + one) : x * x + one * one);
  const up = 250 - bitLength(x + one);
  const sum = (x << BigInt(up)) + (root.mantissa >> BigInt(-root.exponent - up));
  return roundLog(negative, sum, Math.min(exponent, 0) - up);
}

/** |log v| rounded, negated if `negative`, for v = mantissa * 2^exponent > 1. */
function roundLog(negative: boolean, mantissa: bigint, exponent: number): Word {
  const result = logPositive(mantissa, exponent);
  return roundWide(negative, result.mantissa, result.exponent);
}

/**
 * The inverse hyperbolic tangent, correctly rounded: +-Inf at +-1, NaN beyond, x below 2^-27.
 *
 * log((1 + |x|)/(1 - |x|))/2, where 1 + |x| and 1 - |x| are integers in units of x's last bit. Their quotient is cut to
 * 252 or 253 significant bits: 2^-251 relative, absolute in the logarithm, which is at least 2^-26. Relative error
 * before rounding: below 2^-224.
 */
export function atanh(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > ONE) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (magnitude === ONE) return negative ? NEG_INFINITY : INFINITY_;
  const one = 1n << BigInt(-exponent);
  const down = bitLength(one + mantissa) - bitLength(one - mantissa);
  const quotient = over(one + mantissa, (one - mantissa) << BigInt(down));
  const result = logPositive(quotient, down - FRACTION);
  return roundWide(negative, result.mantissa, result.exponent - 1);
}
