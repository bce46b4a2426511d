import type { Word } from "../dtype.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, ONE } from "../float64.ts";
import { atanQuotient, subtractFrom } from "./arcCore.ts";
import { BITS_OF_2_TO_MINUS_27, FRACTION, PI_OVER_2, roundWide, shifted, squareRoot, times, WIDE_ONE } from "./wide.ts";

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
 * atan(x/sqrt(1 - x^2)): x is exact in Q126, and the root has an error below 2 units of 2^-252. Up to sqrt(1/2), the
 * quotient therefore has a relative error of 2^-250. Beyond, where the result is at least pi/4, the quotient's inverse
 * has an absolute error of 2^-250. Relative error before rounding: below 2^-247.
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
