import type { Scaled } from "../elementary/fixed.ts";
import { bitLength } from "../round.ts";
import { FRACTION, over, PI_OVER_2, shifted, times, WIDE_ONE } from "./wide.ts";

const PI_OVER_4 = PI_OVER_2 >> 1n;
/** The last term of the series is z^102/205. */
const LAST_DIVISOR = 205n;

/**
 * atan(p/q) in 0 .. pi/2 (pi/2 for q = 0) for integers 0 <= p, q < 2^254, not both 0: relative error below 2^-248, 0
 * for p = 0.
 *
 * Where a subtraction from pi/4 or pi/2 is made, the result is at least 0.38 and off by less than 4 units of 2^-252.
 */
export function atanQuotient(p: bigint, q: bigint): Scaled {
  return p > q ? subtractFrom(PI_OVER_2, atanUpTo1(q, p)) : atanUpTo1(p, q);
}

/** `whole - angle` for a `whole` in Q252. */
export function subtractFrom(whole: bigint, angle: Scaled): Scaled {
  return { mantissa: whole - shifted(angle.mantissa, angle.exponent + FRACTION), exponent: -FRACTION };
}

/** atan(p/q) for p <= q; beyond about 2/5 it is pi/4 - atan((q - p)/(q + p)), with a quotient of at most 3/7. */
function atanUpTo1(p: bigint, q: bigint): Scaled {
  const isSteep = p > 2n * (q / 5n);
  return isSteep ? subtractFrom(PI_OVER_4, atanSeries(q - p, q + p)) : atanSeries(p, q);
}

/**
 * atan(p/q) for integers 0 <= p/q < 0.43, q <= 2^255: relative error below 2^-249; 0 for p = 0.
 *
 * s = p/q is cut to 252 or 253 significant bits, z = s^2 < 0.185 to Q252. The series 1 - z/3 + z^2/5 - ... is cut after
 * z^102/205 (the rest is below 2^-257); each Horner step cuts less than 2 units of 2^-252 and is damped by z, and the
 * cuts of s and z cost less than 1 unit, so that the sum (at least 0.94) is off by less than 4 units. The last cut adds
 * 2^-251.
 */
function atanSeries(p: bigint, q: bigint): Scaled {
  if (p === 0n) return { mantissa: 0n, exponent: -FRACTION };
  const down = bitLength(q) - bitLength(p);
  const s = over(p << BigInt(down), q);
  const z = times(s, s) >> BigInt(2 * down);
  let sum = WIDE_ONE / LAST_DIVISOR;
  for (let k = LAST_DIVISOR; k > 1n;) {
    k -= 2n;
    sum = WIDE_ONE / k - times(z, sum);
  }
  return { mantissa: times(s, sum), exponent: -FRACTION - down };
}
