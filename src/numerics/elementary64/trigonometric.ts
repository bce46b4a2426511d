import type { Word } from "../dtype.ts";
import type { Scaled } from "../elementary/fixed.ts";
import { decode, INFINITY_, MAGNITUDE, NAN, ONE } from "../float64.ts";
import { bitLength } from "../round.ts";
import { BITS_OF_2_TO_MINUS_27, FRACTION, over, PI_OVER_2, roundWide, times, WIDE_ONE } from "./wide.ts";

/** 2/pi with 1536 fraction bits, cut down. */
const TWO_OVER_PI = BigInt(
  "0xa2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561" +
    "b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484" +
    "e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f" +
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b" +
    "3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d" +
    "a9e391615ee61b086599855f14a068408dffd8804d73273106061556ca73a8c9",
);
/** A turn has 512 bits: two for the quarter, 510 for its fraction. */
const TURN = (1n << 512n) - 1n;
const QUARTER = (1n << 510n) - 1n;

/** The last terms of the two series are z^26/53! and z^27/54!. */
const LAST_OF_SIN = 53n;
const LAST_OF_COS = 54n;

/**
 * `quadrant` quarter turns (modulo 4) plus theta (negated if `negative`), 0 < theta <= pi/4:
 * theta = mantissa * 2^(-252 - down), mantissa in 2^251 .. 2^253.
 */
type Angle = { quadrant: number; negative: boolean; mantissa: bigint; down: number };

/**
 * x = mantissa * 2^exponent as an angle, for a float64 x >= 2^-27 (Payne and Hanek): theta to 2^-249 relative.
 *
 * In x * 2/pi, the bits of 2/pi with weight 2^(2 - exponent) and more contribute multiples of 4. The bits below 2^(-510
 * - exponent) contribute less than 2^53 2^-510. Therefore 512 bits of 2/pi count. No float64 from 2^-27 on comes closer
 * than 2^-62 to a multiple of pi/2, in quarter turns (by the continued fractions of 2^k 2/pi). The fraction is
 * therefore known to 2^-394 relative and has more than 252 bits. Its cut to 252 bits costs 2^-251, PI_OVER_2 2^-253 and
 * the cut of the product 2^-251.
 */
function reduceAngle(mantissa: bigint, exponent: number): Angle {
  const turns = (mantissa * ((TWO_OVER_PI >> BigInt(1026 - exponent)) & TURN)) & TURN;
  const above = turns & QUARTER;
  const negative = above >> 509n !== 0n;
  const fraction = negative ? QUARTER + 1n - above : above;
  const quadrant = (Number(turns >> 510n) + (negative ? 1 : 0)) & 3;
  const bits = bitLength(fraction);
  return { quadrant, negative, mantissa: times(fraction >> BigInt(bits - 252), PI_OVER_2), down: 510 - bits };
}

/** theta^2 in Q252, at most 0.617. */
const square = ({ mantissa, down }: Angle): bigint => times(mantissa, mantissa) >> BigInt(2 * down);

/** sin theta, without the sign: relative error below 2^-248, mantissa in 2^250 .. 2^253. */
const sinTheta = (angle: Angle): Scaled => ({
  mantissa: times(angle.mantissa, series(square(angle), LAST_OF_SIN)),
  exponent: -FRACTION - angle.down,
});

/** cos theta in Q252: relative error below 2^-248. */
const cosTheta = (angle: Angle): bigint => series(square(angle), LAST_OF_COS);

/** sin(x + quarters * pi/2) rounded, for a float64 x = mantissa * 2^exponent >= 2^-27, negated if `negative`. */
function sinShifted(negative: boolean, mantissa: bigint, exponent: number, quarters: 0 | 1): Word {
  const angle = reduceAngle(mantissa, exponent);
  const quadrant = angle.quadrant + quarters;
  const below = negative !== ((quadrant & 2) !== 0);
  if ((quadrant & 1) === 1) return roundWide(below, cosTheta(angle), -FRACTION);
  const sine = sinTheta(angle);
  return roundWide(below !== angle.negative, sine.mantissa, sine.exponent);
}

/**
 * 1 - z/(m(m + 1)) + z^2/(m(m + 1)(m + 2)(m + 3)) - ..., up to the divisor `last`!, with m = 1 for an even `last` (cos)
 * and 2 for an odd `last` (sin theta/theta).
 *
 * The rest is below z^27/55! < 2^-261. The last Horner step cuts less than 1.5 units of 2^-252. The earlier steps,
 * damped by z/2 <= 0.31, cut less than 0.5. The error in z stays below 8 units, and at most half counts: cos (at least
 * 0.70) and sin theta/theta (at least 0.90) are off by less than 7.
 */
function series(z: bigint, last: bigint): bigint {
  let sum = WIDE_ONE;
  for (let k = last; k > 1n; k -= 2n) sum = WIDE_ONE - times(z, sum) / (k * (k - 1n));
  return sum;
}

/** The sine, correctly rounded: NaN at +-Inf, x below 2^-27. Relative error before rounding: 2^-248. */
export function sin(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude >= INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  return sinShifted(negative, mantissa, exponent, 0);
}

/**
 * The cosine, correctly rounded: NaN at +-Inf. Below 2^-27, 1 - cos x < x^2/2 < 2^-55: the result is 1. Relative error
 * before rounding: 2^-248.
 */
export function cos(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude >= INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return ONE;
  const { mantissa, exponent } = decode(x);
  return sinShifted(false, mantissa, exponent, 1);
}

/**
 * The tangent, correctly rounded: NaN at +-Inf, x below 2^-27.
 *
 * With |x| = quadrant pi/2 + theta it is sin theta/cos theta in even quadrants and -cos theta/sin theta in odd ones.
 * Relative error before rounding: below 2^-246.
 */
export function tan(x: Word): Word {
  const magnitude = x & MAGNITUDE;
  if (magnitude >= INFINITY_) return NAN;
  if (magnitude < BITS_OF_2_TO_MINUS_27) return magnitude === 0n ? 0n : x;
  const { negative, mantissa, exponent } = decode(x);
  const angle = reduceAngle(mantissa, exponent);
  const sine = sinTheta(angle);
  const cosine = cosTheta(angle);
  const below = negative !== angle.negative;
  if ((angle.quadrant & 1) === 0) return roundWide(below, over(sine.mantissa, cosine), sine.exponent);
  return roundWide(!below, over(cosine, sine.mantissa), -2 * FRACTION - sine.exponent);
}
