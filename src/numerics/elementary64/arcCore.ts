import type { Scaled } from "../elementary/fixed.ts";
import { oddSeries } from "./oddSeries.ts";
import { FRACTION, PI_OVER_2, shifted } from "./wide.ts";

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

/** atan(p/q) for p <= q; beyond about 2/5 computed as pi/4 - atan((q - p)/(q + p)), with a quotient of at most 3/7. */
function atanUpTo1(p: bigint, q: bigint): Scaled {
  const isSteep = p > 2n * (q / 5n);
  return isSteep ? subtractFrom(PI_OVER_4, atanSeries(q - p, q + p)) : atanSeries(p, q);
}

/**
 * atan(p/q) for integers 0 <= p/q < 0.43, q <= 2^255: relative error below 2^-249; 0 for p = 0. With z < 0.185 the rest
 * after z^102/205 is below 2^-257 ({@link oddSeries}).
 */
const atanSeries = (p: bigint, q: bigint): Scaled =>
  p === 0n ? { mantissa: 0n, exponent: -FRACTION } : oddSeries(p, q, LAST_DIVISOR, true);
