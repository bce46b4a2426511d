import { FRACTION, LN2, FIXED_ONE, type Scaled } from "./fixed.ts";

/** log2(e) with 64 fraction bits. */
const LOG2E_Q64 = 0x171547652b82fe177n;
const TERMS = 26n;

/**
 * e^t for t in Q126, |t| < 2^8, as a mantissa in Q126 (in 0.70 .. 1.42) times 2^exponent.
 *
 * t = n ln 2 + r with n = round(t log2 e), hence |n| <= 370 and |r| < 0.347 = 2^-1.52. LN2 is off by at most half a
 * unit (2^-126), so r is off by at most |n|/2 units. The Taylor sum is cut after r^26/26! (the rest is below 2^-134);
 * each of its Horner steps cuts less than 2 units (a floored shift and a truncated division), damped by r/k, so that
 * the sum is off by less than 4 units. Relative error: below (|n|/2 + 6) 2^-126 <= 2^-118, plus the error of t.
 */
export function expFixed(t: bigint): Scaled {
  const n = (t * LOG2E_Q64 + (1n << 189n)) >> 190n;
  const r = t - n * LN2;
  return { mantissa: FIXED_ONE + ((r * expm1Quotient(r)) >> 126n), exponent: Number(n) - FRACTION };
}

/**
 * (e^r - 1)/r for r in Q126, |r| < 0.347: relative error below 2^-123 (the bounds of expFixed; the result is at least
 * 0.84). 1 for r = 0.
 */
export function expm1Quotient(r: bigint): bigint {
  let sum = FIXED_ONE;
  for (let k = TERMS; k > 1n; k--) sum = FIXED_ONE + ((r * sum) >> 126n) / k;
  return sum;
}

/**
 * e^t and e^-t for t in Q126, 0 <= t < 2^8, over one exponent: `growing * 2^exponent`, `decaying * 2^exponent`.
 *
 * `growing` is expFixed's mantissa M, `decaying` equals 2^(-2n)/M: the error of M, plus two cuts below 1 unit each. For
 * n = 0 (t < 0.346, where M is off by less than 5 units) the difference of both is off by less than 12 units of 2^-126,
 * for n >= 1 by 2^-116 relative.
 */
export function expBoth(t: bigint): { growing: bigint; decaying: bigint; exponent: number } {
  const { mantissa, exponent } = expFixed(t);
  const decaying = (FIXED_ONE << 126n) / mantissa;
  return { growing: mantissa, decaying: decaying >> BigInt(2 * (exponent + FRACTION)), exponent };
}
