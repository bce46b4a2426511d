import { f64x2, v128 } from "../assembler/instructions.ts";
import { both, bothBits } from "./pool.ts";
import { choose, horner, inverseFactorial, lookUpTwo, ROUNDER, withSign, type Estimate } from "./vectorMath.ts";

/** Pieces of 1/64 from 0 to 4, each with a Taylor polynomial about its middle. */
const STEPS = 64;
const PIECES = 4 * STEPS;
const COEFFICIENTS = 7;
const ENTRY_BYTES = 64;

/** Fixed point with so many fraction bits: what its cuts are off by, below 2^10 units, does not show in a float64. */
const FRACTION = 128n;
const ONE = 1n << FRACTION;
/** 2/sqrt(pi). */
const TWO_OVER_SQRT_PI = (2n ** FRACTION * 2n ** FRACTION * 2n) / sqrtPi();

function sqrtPi(): bigint {
  // Machin: pi/4 = 4 atan(1/5) - atan(1/239).
  const arcOf = (q: bigint): bigint => {
    let sum = 0n;
    let power = ONE / q;
    for (let n = 1n; power !== 0n; n += 2n, power = -power / (q * q)) sum += power / n;
    return sum;
  };
  const pi = 4n * (4n * arcOf(5n) - arcOf(239n));
  let root = 2n * ONE;
  for (let next = (root + (pi << FRACTION) / root) / 2n; next < root; next = (root + (pi << FRACTION) / root) / 2n)
    root = next;
  return root;
}

const times = (a: bigint, b: bigint): bigint => (a * b) >> FRACTION;

/**
 * The coefficients of erf about c: a0 = erf c, a1 = 2/sqrt(pi) e^(-c^2) and, since erf'' = -2 x erf', with d_k = (k + 1) a_(k+1): d_(k+1) = -2 (c d_k + d_(k-1)) / (k + 1).
 * erf c by Kummer's series: c a1 (1 + w/3 + w^2/15 + ...), w = 2 c^2, all of whose terms are positive.
 */
function coefficients(piece: number): number[] {
  const c = ((2n * BigInt(piece) + 1n) << FRACTION) / BigInt(2 * STEPS);
  const square = times(c, c);
  let power = ONE;
  let exponential = ONE;
  for (let n = 1n; power !== 0n; n++) exponential += power = times(power, square) / n;
  const slope = times(TWO_OVER_SQRT_PI, (ONE << FRACTION) / exponential);
  let term = ONE;
  let series = ONE;
  for (let n = 3n; term !== 0n; n += 2n) series += term = times(term, 2n * square) / n;

  const derivatives = [slope, -2n * times(c, slope)];
  for (let k = 1; derivatives.length < COEFFICIENTS - 1; k++)
    derivatives.push((-2n * (times(c, derivatives[k]!) + derivatives[k - 1]!)) / BigInt(k + 1));
  const rest = derivatives.map((d, k) => d / BigInt(k + 1));
  return [times(times(c, slope), series), ...rest].map((a) => Number(a) * 2 ** -Number(FRACTION));
}

/** The coefficients of all pieces, to the nearest but for 2^-110. */
export const errorTable = (): number[] =>
  Array.from({ length: PIECES }, (_, piece) => [...coefficients(piece), 0]).flat();

const SMALL = 1 / 8;
const LIMIT = 3.999;

/**
 * erf |x|, |x| < 3.999; from there on that of 3.999 (above 1 - 2^-25.8), which is 1 when rounded to float32.
 *
 * |x| < 1/8: 2/sqrt(pi) |x| (1 - z/3 + z^2/10 - ...), z = x^2 (exact) < 2^-6, cut after z^6/(6! 13): the rest is below 2^-42/(7! 15) < 2^-58; constants, sums and products are off by
 * less than 5 u.
 * Else the polynomial of degree 6 in h = |x| - c (exact), |h| <= 2^-7. By Cramer's bound on Hermite polynomials |a_k| <= 1.24 * 2^((k-1)/2) sqrt((k-1)!)/k! e^(-c^2/2): the rest
 * is below 1.01 |a_7| 2^-49 < 2^-53.1. The terms but the first are below 0.0089 (1 + 2^-6), the errors of the sum below u + 0.009 * 4 u, against erf 1/8 > 0.14: below 2^-49.5 in all. Relative errors below 2^-49.
 */
export const erfPair =
  (table: number): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const a = keep(f64x2.pmin(f64x2.abs(x), both(LIMIT)));
    const z = keep(f64x2.mul(a, a));
    const series = Array.from({ length: 7 }, (_, n) => ((n % 2 === 0 ? 1 : -1) * inverseFactorial(n)) / (2 * n + 1));
    const scale = Number(TWO_OVER_SQRT_PI) * 2 ** -Number(FRACTION);
    const near = f64x2.mul(f64x2.mul(a, both(scale)), horner(z, series));
    const integer = keep(f64x2.add(f64x2.sub(f64x2.mul(a, both(STEPS)), both(0.5)), ROUNDER));
    const piece = f64x2.sub(integer, ROUNDER);
    const h = keep(f64x2.sub(a, f64x2.add(f64x2.mul(piece, both(1 / STEPS)), both(0.5 / STEPS))));
    // NaNs have any bits.
    const index = keep(v128.and(integer, bothBits(BigInt(PIECES - 1))));
    const coefficients = [0, 2, 4, 6].flatMap((k) => lookUpTwo(builder, table + 8 * k, index, ENTRY_BYTES));
    const sum = coefficients
      .slice(0, COEFFICIENTS)
      .reduceRight((rest, coefficient) => f64x2.add(coefficient, f64x2.mul(h, rest)));
    return withSign(choose(f64x2.lt(a, both(SMALL)), near, sum), x);
  };
