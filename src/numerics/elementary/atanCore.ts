import { FIXED_ONE, FRACTION, PI_OVER_2, toFixed, type Scaled } from "./fixed.ts";
import { bitLength } from "../round.ts";

const PI_OVER_4 = PI_OVER_2 >> 1n;
/** The last term of the series is z^50/101. */
const LAST_DIVISOR = 101n;

/**
 * atan(p/q) in 0 .. pi/2 (pi/2 for q = 0) for integers 0 <= p, q < 2^128, not both 0 and both below 2^127 unless one is
 * below a fifth of the other: relative error below 2^-122. 0 for p = 0.
 *
 * After a subtraction from pi/4 or pi/2, the result is at least 0.38. Its error has three parts: less than 1 unit of
 * 2^-126 (the constant), 1 (the cut) and 2^-123 of the subtracted value, at most 0.79.
 */
export function atanQuotient(p: bigint, q: bigint): Scaled {
  return p > q ? subtractFrom(PI_OVER_2, atanUpTo1(q, p)) : atanUpTo1(p, q);
}

/** `whole - angle` for a `whole` in Q126. */
export function subtractFrom(whole: bigint, angle: Scaled): Scaled {
  return { mantissa: whole - toFixed(angle.mantissa, angle.exponent), exponent: -FRACTION };
}

/** atan(p/q) for p <= q; beyond 2/5 computed as pi/4 - atan((q - p)/(q + p)), with a quotient of at most 3/7. */
function atanUpTo1(p: bigint, q: bigint): Scaled {
  return 5n * p > 2n * q ? subtractFrom(PI_OVER_4, atanSeries(q - p, q + p)) : atanSeries(p, q);
}

/**
 * atan(p/q) for integers 0 <= p/q <= 3/7, q <= 2^128: relative error below 2^-123; 0 for p = 0.
 *
 * s = p/q is cut to 126 or 127 significant bits (2^-125 relative), z = s^2 < 0.184 to Q126. The series 1 - z/3 + z^2/5
 * - ... is cut after z^50/101 (the rest is below 2^-131). Each Horner step cuts less than 2 units of 2^-126, damped by
 * z, and the cut of z costs less than 0.4 units. The sum (at least 0.94) is therefore off by less than 3 units:
 * 2^-124.3. The last cut adds 2^-125.
 */
function atanSeries(p: bigint, q: bigint): Scaled {
  const shift = FRACTION - bitLength(p) + bitLength(q);
  const s = (p << BigInt(shift)) / q;
  const z = (s * s) >> BigInt(2 * shift - FRACTION);
  let sum = FIXED_ONE / LAST_DIVISOR;
  for (let k = LAST_DIVISOR; k > 1n;) {
    k -= 2n;
    sum = FIXED_ONE / k - ((z * sum) >> 126n);
  }
  return { mantissa: (s * sum) >> 126n, exponent: -shift };
}
