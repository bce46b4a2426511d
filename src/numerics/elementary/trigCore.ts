import { FIXED_ONE, FRACTION, PI_OVER_2, type Scaled } from "./fixed.ts";
import { bitLength } from "../round.ts";

/** 2/pi with 384 fraction bits, cut down. */
export const TWO_OVER_PI =
  0xa2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cn;
/** Quarter turns have 220 fraction bits; the window of 2/pi that matters, 2 more. */
const WINDOW = (1n << 222n) - 1n;
const ONE_QUARTER_TURN = 1n << 220n;

/** The last terms of the two series are z^15/31! and z^16/32!. */
const LAST_OF_SIN = 31n;
const LAST_OF_COS = 32n;

/**
 * `quadrant` quarter turns (modulo 4) plus theta (negated if `negative`), 0 < theta <= pi/4:
 * theta = mantissa * 2^exponent, mantissa in 2^125 .. 2^127.
 */
export type Angle = { quadrant: number; negative: boolean; mantissa: bigint; exponent: number };

/**
 * x = mantissa * 2^exponent as an angle, for a float32 x >= 2^-12 (Payne and Hanek): theta to 2^-123 relative.
 *
 * In x * 2/pi, the bits of 2/pi with weight 2^(2 - exponent) and more contribute multiples of 4. The bits below 2^(-220
 * - exponent) contribute less than 2^24 2^-220. Therefore 222 bits of 2/pi count. No float32 from 2^-12 on comes closer
 * than 2^-29.9 to a multiple of pi/2, in quarter turns (by the continued fractions of 2^k 2/pi). The fraction is
 * therefore known to 2^-166 relative and has more than 126 bits. Its cut to 126 bits costs 2^-125, PI_OVER_2 2^-127.6
 * and the cut of the product 2^-125.6.
 */
export function reduceAngle(mantissa: bigint, exponent: number): Angle {
  const turns = mantissa * ((TWO_OVER_PI >> BigInt(164 - exponent)) & WINDOW);
  const above = turns & (ONE_QUARTER_TURN - 1n);
  const negative = above > ONE_QUARTER_TURN >> 1n;
  const fraction = negative ? ONE_QUARTER_TURN - above : above;
  const quadrant = (Number((turns >> 220n) & 3n) + (negative ? 1 : 0)) & 3;
  const drop = bitLength(fraction) - 126;
  return { quadrant, negative, mantissa: ((fraction >> BigInt(drop)) * PI_OVER_2) >> 126n, exponent: drop - 220 };
}

/** sin theta, without the sign: relative error below 2^-122, mantissa in 2^250 .. 2^253. */
export function sinTheta(angle: Angle): Scaled {
  return { mantissa: angle.mantissa * series(square(angle), LAST_OF_SIN), exponent: angle.exponent - FRACTION };
}

/** cos theta in Q126: relative error below 2^-123. */
export const cosTheta = (angle: Angle): bigint => series(square(angle), LAST_OF_COS);

/**
 * sin(x + quarters * pi/2) and its sign, for a float32 x = mantissa * 2^exponent >= 2^-12: relative error below 2^-122.
 */
export function sinShifted(mantissa: bigint, exponent: number, quarters: 0 | 1): Scaled & { negative: boolean } {
  const angle = reduceAngle(mantissa, exponent);
  const quadrant = angle.quadrant + quarters;
  const negative = (quadrant & 2) !== 0;
  if ((quadrant & 1) === 1) return { negative, mantissa: cosTheta(angle), exponent: -FRACTION };
  return { negative: negative !== angle.negative, ...sinTheta(angle) };
}

/** theta^2 in Q126, at most 0.617. */
function square({ mantissa, exponent }: Angle): bigint {
  return (mantissa * mantissa) >> BigInt(-2 * exponent - FRACTION);
}

/**
 * 1 - z/(m(m + 1)) + z^2/(m(m + 1)(m + 2)(m + 3)) - ..., up to the divisor `last`!, with m = 1 for an even `last` (cos)
 * and 2 for an odd `last` (sin theta/theta).
 *
 * The rest is below z^16/33! < 2^-133. The last Horner step cuts less than 1.5 units of 2^-126. The earlier steps,
 * damped by z/2 <= 0.31, cut less than 0.5. The error in z stays below 5.5 units, and at most half counts: cos (at
 * least 0.70) is off by less than 5 units, sin theta/theta (at least 0.90) by less than 3.
 */
function series(z: bigint, last: bigint): bigint {
  let sum = FIXED_ONE;
  for (let k = last; k > 1n; k -= 2n) sum = FIXED_ONE - ((z * sum) >> 126n) / (k * (k - 1n));
  return sum;
}
