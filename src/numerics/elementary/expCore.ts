import { FRACTION, LN2, FIXED_ONE, type Scaled } from "./fixed.ts";

/** log2(e) with 64 fraction bits. */
const LOG2E_Q64 = 0x171547652b82fe177n;
const TERMS = 26n;

/**
 * e^t for t in Q126, |t| < 2^8, as a mantissa in Q126 (in 0.70 .. 1.42) times 2^exponent.
 *
 * t = n ln 2 + r with n = round(t log2 e), hence |n| <= 370 and |r| < 0.347 = 2^-1.52. LN2 is off by at most half a unit (2^-126), so r
 * is off by at most |n|/2 units. The Taylor sum is cut after r^26/26! (the rest is below 2^-134); each of its Horner steps cuts less than
 * 2 units (a floored shift and a truncated division), damped by r/k, so that the sum is off by less than 4 units.
 * Relative error: below (|n|/2 + 6) 2^-126 <= 2^-118, plus the error of t.
 */
export function expFixed(t: bigint): Scaled {
  const n = (t * LOG2E_Q64 + (1n << 189n)) >> 190n;
  const r = t - n * LN2;
  let sum = FIXED_ONE;
  for (let k = TERMS; k > 0n; k--) sum = FIXED_ONE + ((r * sum) >> 126n) / k;
  return { mantissa: sum, exponent: Number(n) - FRACTION };
}
