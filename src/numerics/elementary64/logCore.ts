import type { Scaled } from "../elementary/fixed.ts";
import { bitLength } from "../round.ts";
import { oddSeries } from "./oddSeries.ts";
import { ARGUMENT_FRACTION, LN2, shifted } from "./wide.ts";

/** sqrt(1/2) with 256 fraction bits, cut down. */
const SQRT_HALF_Q256 = 0xb504f333f9de6484597d89b3754abe9f1d6f60ba893ba84ced17ac8583339915n;
/** The last term of the series is z^49/99. */
const LAST_DIVISOR = 99n;

/**
 * 2 atanh(p/q) = log((q + p)/(q - p)) for integers 0 < p/q < 0.1716, q < 2^255: relative error below 2^-249. With z <
 * 0.0295 the rest after z^49/99 is below 2^-260 ({@link oddSeries}).
 */
function logQuotient(p: bigint, q: bigint): Scaled {
  const { mantissa, exponent } = oddSeries(p, q, LAST_DIVISOR, false);
  return { mantissa, exponent: exponent + 1 };
}

/**
 * |log x| and its sign, for x = mantissa * 2^exponent with 0 < mantissa < 2^254 and |log2 x| < 2^11: relative error
 * below 2^-242, also next to 1. log 1 is a mantissa of 0; any other mantissa is at least 2^242.
 *
 * x = 2^k m with m in sqrt(1/2) .. sqrt(2), log m = 2 atanh((m - 1)/(m + 1)). For k = 0 that is the result. Otherwise
 * |log x| >= |k| ln(2)/2, and in units of 2^-244 the error is at most |k|/2 (LN2) + 2 (log m and its cut).
 */
export function logPositive(mantissa: bigint, exponent: number): Scaled & { negative: boolean } {
  const bits = bitLength(mantissa);
  const above = mantissa << BigInt(256 - bits) > SQRT_HALF_Q256;
  const unitBits = above ? bits : bits - 1;
  const unit = 1n << BigInt(unitBits);
  const k = exponent + unitBits;
  const below = mantissa < unit;
  if (mantissa === unit) return scaledLn2(k);
  const log = logQuotient(below ? unit - mantissa : mantissa - unit, mantissa + unit);
  if (k === 0) return { negative: below, ...log };
  const magnitude = shifted(log.mantissa, log.exponent + ARGUMENT_FRACTION);
  const total = BigInt(k) * LN2 + (below ? -magnitude : magnitude);
  return total < 0n
    ? { negative: true, mantissa: -total, exponent: -ARGUMENT_FRACTION }
    : { negative: false, mantissa: total, exponent: -ARGUMENT_FRACTION };
}

function scaledLn2(k: number): Scaled & { negative: boolean } {
  return { negative: k < 0, mantissa: BigInt(Math.abs(k)) * LN2, exponent: -ARGUMENT_FRACTION };
}
