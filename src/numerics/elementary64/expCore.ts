import type { Scaled } from "../elementary/fixed.ts";
import { FRACTION, LN2, over, times, WIDE_ONE } from "./wide.ts";

/** log2(e) with 64 fraction bits. */
const LOG2E_Q64 = 0x171547652b82fe177n;
const TERMS = 46n;

/**
 * e^t for t in Q244, |t| < 2^10, as a mantissa in Q252 (in 0.70 .. 1.42) times 2^exponent.
 *
 * t = n ln 2 + r with n = round(t log2 e), hence |n| <= 1478 and |r| < 0.347. LN2 is off by at most half a unit of
 * 2^-244, so r is off by at most |n|/2 of them. The Taylor sum is cut after r^46/46! (the rest is below 2^-265); each
 * of its Horner steps cuts less than 2 units of 2^-252 (a product and a division), damped by r/k, so that the sum is
 * off by less than 3, and the result by less than 4 units. Relative error: below 2^-249 for n = 0, else 2^-234, plus
 * the error of t.
 */
export function expFixed(t: bigint): Scaled {
  const n = ((t >> 180n) * LOG2E_Q64 + (1n << 127n)) >> 128n;
  const r = (t - n * LN2) << 8n;
  const negative = r < 0n;
  const magnitude = negative ? -r : r;
  const growth = times(magnitude, expm1Quotient(negative, magnitude));
  return { mantissa: negative ? WIDE_ONE - growth : WIDE_ONE + growth, exponent: Number(n) - FRACTION };
}

/** (e^r - 1)/r for |r| < 0.347 in Q252 (r negated if `negative`): relative error below 2^-250. 1 for r = 0. */
export function expm1Quotient(negative: boolean, r: bigint): bigint {
  let sum = WIDE_ONE;
  for (let k = TERMS; k > 1n; k--) {
    const term = times(r, sum) / k;
    sum = negative ? WIDE_ONE - term : WIDE_ONE + term;
  }
  return sum;
}

/**
 * e^t and e^-t for t in Q244, 0 <= t < 2^10, over one exponent: `growing * 2^exponent`, `decaying * 2^exponent`.
 *
 * `growing` is expFixed's mantissa M, `decaying` equals 2^(-2n)/M: the error of M, plus two cuts below 1 unit each. For
 * n = 0 the difference is off by less than 12 units of 2^-252, for n >= 1 by 2^-232 relative.
 */
export function expBoth(t: bigint): { growing: bigint; decaying: bigint; exponent: number } {
  const { mantissa, exponent } = expFixed(t);
  const decaying = over(WIDE_ONE, mantissa) >> BigInt(2 * (exponent + FRACTION));
  return { growing: mantissa, decaying, exponent };
}
