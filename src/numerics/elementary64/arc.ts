import type { Word } from "../dtype.ts";
import type { Scaled } from "../elementary/fixed.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, ONE } from "../float64.ts";
import { bitLength } from "../round.ts";
import {
  BITS_OF_2_TO_MINUS_27,
  FRACTION,
  over,
  PI_OVER_2,
  roundWide,
  shifted,
  squareRoot,
  times,
  WIDE_ONE,
} from "./wide.ts";

const PI_OVER_4 = PI_OVER_2 >> 1n;
/** The last term of the series is z^102/205. */
const LAST_DIVISOR = 205n;

/**
 * atan(p/q) in 0 .. pi/2 (pi/2 for q = 0) for integers 0 <= p, q < 2^254, not both 0: relative error below 2^-248, 0
 * for p = 0.
 *
 * Where a subtraction from pi/4 or pi/2 is made, the result is at least 0.38 and off by less than 4 units of 2^-252.
 */
function atanQuotient(p: bigint, q: bigint): Scaled {
  return p > q ? subtractFrom(PI_OVER_2, atanUpTo1(q, p)) : atanUpTo1(p, q);
}

/** `whole - angle` for a `whole` in Q252. */
function subtractFrom(whole: bigint, angle: Scaled): Scaled {
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

/** sqrt(1 - x^2) for 0 <= x <= 1, all in Q252: off by less than 2 units where x is exact in Q126 or below 2^-70. */
function otherLeg(x: bigint): bigint {
  const square = times(WIDE_ONE - x, WIDE_ONE + x);
  if (square === 0n) return 0n;
  const root = squareRoot(square);
  return root.mantissa >> BigInt(-root.exponent - FRACTION / 2);
}

/**
 * The arctangent, correctly rounded: +-pi/2 at +-Inf, x below 2^-27. Beyond 2^252, pi/2 - atan x < 2^-252. Relative
 * error before rounding: 2^-248.
 */
export function atan(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  if (exponent > 200) return roundWide(negative, PI_OVER_2, -FRACTION);
  const angle = atanQuotient(mantissa << BigInt(Math.max(exponent, 0)), 1n << BigInt(Math.max(-exponent, 0)));
  return roundWide(negative, angle.mantissa, angle.exponent);
}

/**
 * The arcsine, correctly rounded: NaN beyond +-1, x below 2^-27.
 *
 * atan(x/sqrt(1 - x^2)): x is exact in Q126 and the root is off by less than 2 units of 2^-252, so that up to sqrt(1/2)
 * the quotient is off by 2^-250 relative and beyond, where the result is at least pi/4, its inverse by 2^-250 absolute.
 * Relative error before rounding: below 2^-247.
 */
export function asin(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > ONE) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  const sine = shifted(mantissa, exponent + FRACTION);
  const angle = atanQuotient(sine, otherLeg(sine));
  return roundWide(negative, angle.mantissa, angle.exponent);
}

/**
 * The arccosine, correctly rounded: NaN beyond +-1, 0 at 1.
 *
 * atan(sqrt(1 - x^2)/|x|), and for a negative x its difference from pi. |x| in Q252 and the root are off by less than 2
 * units; next to 1 the root, and with it the result, falls to 2^-26. Relative error before rounding: below 2^-223.
 */
export function acos(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude > ONE) return NAN;
  const { negative, mantissa, exponent } = decode(x);
  const cosine = shifted(mantissa, exponent + FRACTION);
  const acute = atanQuotient(otherLeg(cosine), cosine);
  const angle = negative ? subtractFrom(2n * PI_OVER_2, acute) : acute;
  return roundWide(false, angle.mantissa, angle.exponent);
}
