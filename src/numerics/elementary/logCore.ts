import { FRACTION, LN2, FIXED_ONE, type Scaled } from "./fixed.ts";
import { bitLength } from "../round.ts";

/** The last term of the series is z^24/49. */
const LAST_DIVISOR = 49n;

/**
 * 2 atanh(p/q) = log((q + p)/(q - p)) for integers 0 < p/q <= 3 - 2 sqrt(2) = 0.1716, q < 2^128: relative error below
 * 2^-123, mantissa in 2^125 .. 2^128.
 *
 * s = p/q is cut to 126 or 127 significant bits (2^-125 relative), z = s^2 < 0.0295 to Q126. The series 1 + z/3 + z^2/5
 * + ... is cut after z^24/49 (the rest is below 2^-132). Each Horner step cuts less than 2 units of 2^-126, damped by
 * z, and the cut of z costs less than 0.4 units. The sum is therefore off by less than 3 units: 2^-124.4. The last cut
 * adds 2^-125.
 */
function logQuotient(p: bigint, q: bigint): Scaled {
  const shift = FRACTION - bitLength(p) + bitLength(q);
  const s = (p << BigInt(shift)) / q;
  const z = (s * s) >> BigInt(2 * shift - FRACTION);
  let sum = FIXED_ONE / LAST_DIVISOR;
  for (let k = LAST_DIVISOR; k > 1n;) {
    k -= 2n;
    sum = FIXED_ONE / k + ((z * sum) >> 126n);
  }
  return { mantissa: (s * sum) >> 126n, exponent: 1 - shift };
}

/**
 * |log x| and its sign, for x = mantissa * 2^exponent with 0 < mantissa < 2^127 and |log2 x| < 2^9: relative error
 * below 2^-122, also next to 1. log 1 is a mantissa of 0; any other mantissa is at least 2^124.
 *
 * x = 2^k m with m in sqrt(1/2) .. sqrt(2), log m = 2 atanh((m - 1)/(m + 1)). For k = 0 that is the result. Otherwise
 * |log x| >= |k| ln(2)/2, and in units of 2^-126 the error is at most |k|/2 (LN2) + 2.8 (log m <= 0.347, 2^-123) + 1
 * (its cut): below 12.5 units of 2^-126 relative.
 */
export function logPositive(mantissa: bigint, exponent: number): Scaled & { negative: boolean } {
  const bits = bitLength(mantissa);
  const above = mantissa * mantissa > 1n << BigInt(2 * bits - 1);
  const unitBits = above ? bits : bits - 1;
  const unit = 1n << BigInt(unitBits);
  const k = exponent + unitBits;
  if (mantissa === unit) return scaledLn2(k);
  const below = mantissa < unit;
  const log = logQuotient(below ? unit - mantissa : mantissa - unit, mantissa + unit);
  if (k === 0) return { negative: below, ...log };
  const magnitude = log.mantissa >> BigInt(-log.exponent - FRACTION);
  const total = BigInt(k) * LN2 + (below ? -magnitude : magnitude);
  return total < 0n
    ? { negative: true, mantissa: -total, exponent: -FRACTION }
    : { negative: false, mantissa: total, exponent: -FRACTION };
}

function scaledLn2(k: number): Scaled & { negative: boolean } {
  return { negative: k < 0, mantissa: BigInt(Math.abs(k)) * LN2, exponent: -FRACTION };
}
