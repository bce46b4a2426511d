import { all, allBits } from "./pool.ts";
import { horner, lookUpPairs, ROUNDER, type Estimate } from "./vectorMath.ts";
import { f64x4, i64x4, v256 } from "./wide.ts";

/** Pieces about i/64, i = 0 .. 256, each with a polynomial for erf(x)/x. */
const STEPS = 64;
const PIECES = 4 * STEPS + 1;
const DEGREE = 5;
/** A part of the table holds two coefficients for each piece. */
const PARTS = (DEGREE + 1) / 2;
const ENTRY_BYTES = 16;
const TABLE_BYTES = PIECES * ENTRY_BYTES;
export const ERROR_TABLE_BYTES = PARTS * TABLE_BYTES;
const INDEX_MASK = 2 ** 9 - 1;

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
 * The coefficients of erf about c: a0 = erf c, a1 = 2/sqrt(pi) e^(-c^2) and, since erf'' = -2 x erf', with d_k = (k +
 * 1) a_(k+1): d_(k+1) = -2 (c d_k + d_(k-1)) / (k + 1). erf c by Kummer's series: c a1 (1 + w/3 + w^2/15 + ...), w = 2
 * c^2, with positive terms only.
 */
function errorCoefficients(c: bigint): bigint[] {
  const square = times(c, c);
  let power = ONE;
  let exponential = ONE;
  for (let n = 1n; power !== 0n; n++) exponential += power = times(power, square) / n;
  const slope = times(TWO_OVER_SQRT_PI, (ONE << FRACTION) / exponential);
  let term = ONE;
  let series = ONE;
  for (let n = 3n; term !== 0n; n += 2n) series += term = times(term, 2n * square) / n;

  const derivatives = [slope, -2n * times(c, slope)];
  for (let k = 1; derivatives.length <= DEGREE; k++)
    derivatives.push((-2n * (times(c, derivatives[k]!) + derivatives[k - 1]!)) / BigInt(k + 1));
  return [times(times(c, slope), series), ...derivatives.map((d, k) => d / BigInt(k + 1))];
}

/**
 * The coefficients of g = erf(x)/x up to g6: from x g = erf, g_k = (a_k - g_(k-1))/c, which multiplies errors by at
 * most 64, six times; about 0, 2/sqrt(pi) (1 - h^2/3 + h^4/10 - h^6/42). Then g6 h^6 is economised: with H = 1/128, T6
 * = 32 u^6 - 48 u^4 + 18 u^2 - 1, h^6 equals (48 h^4 H^2 - 18 h^2 H^4 + H^6)/32 except for H^6 T6(h/H)/32.
 */
function coefficients(piece: number): number[] {
  const c = (BigInt(piece) << FRACTION) / BigInt(STEPS);
  const a = errorCoefficients(c);
  const g: bigint[] = [];
  if (piece === 0) g.push(...[1n, 0n, -3n, 0n, 10n, 0n, -42n].map((n) => (n === 0n ? 0n : TWO_OVER_SQRT_PI / n)));
  else for (let k = 0; k <= DEGREE + 1; k++) g.push(((a[k]! - (g[k - 1] ?? 0n)) << FRACTION) / c);
  const last = g.pop()!;
  const [H2, H4, H6] = [14n, 28n, 42n];
  g[0]! += last >> (H6 + 5n);
  g[2]! -= (18n * last) >> (H4 + 5n);
  g[4]! += (48n * last) >> (H2 + 5n);
  return g.map((value) => Number(value) * 2 ** -Number(FRACTION));
}

/** The tables one after the other, coefficients to the nearest but for 2^-70. */
export function errorTable(): number[] {
  const pieces = Array.from({ length: PIECES }, (_, piece) => coefficients(piece));
  return Array.from({ length: PARTS }, (_, table) => pieces.flatMap((g) => g.slice(2 * table, 2 * table + 2))).flat();
}

/** From this magnitude on, the function uses the estimate for 3.999; the bound is proven below. */
export const SATURATION = 3.999;

/**
 * erf x = x g(|x|) for |x| < 3.999; above, erf(3.999) stands in (above 1 - 2^-25.8), and rounds to 1 in float32.
 *
 * g(x) = 2/sqrt(pi) times the integral over s from 0 to 1 of e^(-x^2 s^2), hence by Cramer's bound on Hermite
 * polynomials |g_n| <= 1.24 * 2^(n/2) / (sqrt(n!) (n + 1)). h = |x| - i/64 is exact, |h| <= 2^-7: what economising
 * leaves out is below 2^-47 |g6| < 2^-51.2, the rest below 1.01 |g7| 2^-49 < 2^-54.3. Errors of the sum: u of the
 * result for the constant and the last sum each, g1 h below 0.0056 with 4 u. g >= erf(4)/4 > 0.2499: below
 * 2^-49.0 + 2^-52.3 + 2.1 u relative, and u for the product: below 2^-48.
 */
export const erfPair =
  (table: number): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const cut = keep(f64x4.pmax(f64x4.pmin(x, keep(all(SATURATION))), keep(all(-SATURATION))));
    const a = keep(f64x4.abs(cut));
    const rounder = keep(ROUNDER);
    const integer = keep(f64x4.madd(a, keep(all(STEPS)), rounder));
    const h = keep(f64x4.madd(f64x4.sub(integer, rounder), keep(all(-1 / STEPS)), a));
    // A NaN may have any bits.
    const index = keep(i64x4.shl(v256.and(integer, keep(allBits(BigInt(INDEX_MASK)))), Math.log2(ENTRY_BYTES)));
    const tables = Array.from({ length: PARTS }, (_, n) => table + n * TABLE_BYTES);
    return f64x4.mul(cut, horner(builder, h, lookUpPairs(builder, tables, index)));
  };
