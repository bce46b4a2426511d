import { LN2 } from "../../elementary/fixed.ts";
import { logPositive } from "../../elementary/logCore.ts";
import { all, allBits } from "./pool.ts";
import { f64x4, i64x4, lowerWords, v256, type Wide } from "./wide.ts";
import { choose, horner, lookUpPairs, ROUNDER, withSign, type Estimate } from "./vectorMath.ts";

/** Table entries are for c = 1 + i/128, i from FIRST on: m lies between sqrt(1/2) and sqrt(2). */
const STEPS = 128;
const FIRST = -38;
const LAST = 53;
/** log c and 1/c side by side. */
const ENTRY_BYTES = 16;

export const LOGARITHM_TABLE_BYTES = ENTRY_BYTES * (LAST - FIRST + 1);

/** log c to the nearest but for 2^-122, and 1/c to the nearest. */
export const logarithmTable = (): number[] =>
  Array.from({ length: LAST - FIRST + 1 }, (_, n) => {
    const { negative, mantissa, exponent } = logPositive(BigInt(STEPS + FIRST + n), -7);
    return [(negative ? -1 : 1) * Number(mantissa) * 2 ** exponent, STEPS / (STEPS + FIRST + n)];
  }).flat();

const LN2_DOUBLE = Number(LN2) * 2 ** -126;
/** The bits of sqrt(1/2). */
const ROOT_HALF = 0x3fe6a09e667f3bcdn;

/**
 * log x for finite float64 x > 0 that are not subnormal: x = 2^k m, m in sqrt(1/2) .. sqrt(2), c = 1 + i/128 next to m,
 * r = (m - c)/c: k ln 2 + (log c + log(1 + r)).
 *
 * m - c is exact (at most 1/256 with the units of m and c), 1/c and the product round: r is off by 2 u, |r| < 2^-7.4;
 * for i = 0 it is exact. The Taylor series of log(1 + r) is cut after r^7/7: the rest is below |r|^8/8
 * (1 + 2^-7) < 2^-54.7 |r|; evaluated as r + r^2 q(r), q below 4 u, those weigh |r|/2 of r, and one more sum: below
 * 1.7 u relative. k = i = 0: 1.7 u. k = 0, i != 0: |log x| > 2^-8.01, |log c| < 2.1 |log x|, |r| < 1.5 |log x|: u
 * 2.1 + 1.5 * 3.7 u + u: below 9 u. k != 0: |log x| > 0.34 |k|, the errors are u 0.7 |k| (the constant) and twice as
 * much for rounding the product and the sum, and below 4 u 0.35: below 12 u. In all below 2^-49 relative.
 *
 * Infinity and NaN stay, 0 gives -Infinity, less than 0 NaN.
 */
export const logPair =
  (table: number): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const offset = keep(i64x4.sub(x, allBits(ROOT_HALF)));
    const k = keep(i64x4.shrS(offset, 52));
    const m = keep(i64x4.sub(x, i64x4.shl(k, 52)));
    const integer = keep(f64x4.add(f64x4.mul(f64x4.sub(m, all(1)), all(STEPS)), ROUNDER));
    const c = f64x4.add(f64x4.mul(f64x4.sub(integer, ROUNDER), all(1 / STEPS)), all(1));
    const index = keep(i64x4.shl(i64x4.add(integer, allBits(BigInt(-FIRST))), 4));
    const [logC, inverse] = lookUpPairs(builder, [table], index) as [Wide, Wide];
    const r = keep(f64x4.mul(f64x4.sub(m, c), inverse));
    const q = horner(
      builder,
      r,
      [2, 3, 4, 5, 6, 7].map((n) => (n % 2 === 0 ? -1 : 1) / n),
    );
    const small = f64x4.madd(f64x4.mul(r, r), q, r);
    const sum = f64x4.add(logC, small);
    const exponents = f64x4.convertLowI32S(lowerWords(k));
    const log = keep(f64x4.madd(exponents, all(LN2_DOUBLE), sum));
    const finite = choose(f64x4.lt(x, all(Infinity)), log, x);
    const atZero = choose(f64x4.eq(x, all(0)), all(-Infinity), finite);
    return choose(f64x4.lt(x, all(0)), all(NaN), atZero);
  };

/**
 * log(1 + v) = log w + (v - (w - 1)) / w, w = RN(1 + v): for |v| <= 1 both subtractions are exact, and what the
 * quotient leaves out is below its square, at most u^2; for v > 1 the quotient is below u, against a logarithm of more
 * than 0.69. log w is off by 2^-49. An error of log w weighs at most twice (for |v| < u, log w is 0 or as large as v):
 * below 2^-47.5. At -1 and infinities the quotient counts as 0.
 */
export const log1pPair =
  (log: Estimate): Estimate =>
  (builder, v) => {
    const { keep } = builder;
    const w = keep(f64x4.add(all(1), v));
    const rest = f64x4.div(f64x4.sub(v, f64x4.sub(w, all(1))), w);
    const ordinary = v256.and(f64x4.gt(w, all(0)), f64x4.lt(w, all(Infinity)));
    return f64x4.add(log(builder, w), v256.and(rest, ordinary));
  };

/**
 * asinh |x| = log(1 + (|x| + x^2 / (1 + sqrt(1 + x^2)))): 5 u on the argument, whose weight is at most 1: below 2^-47.
 * Squares of float32 do not overflow.
 */
export const asinhPair =
  (log1p: Estimate): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const square = keep(f64x4.mul(x, x));
    const root = f64x4.sqrt(f64x4.add(all(1), square));
    const a = keep(f64x4.abs(x));
    const v = f64x4.add(a, f64x4.div(square, f64x4.add(all(1), root)));
    // Infinity over Infinity.
    return withSign(log1p(builder, keep(choose(f64x4.lt(a, all(Infinity)), v, a))), x);
  };

/**
 * acosh x = log(1 + ((x - 1) + sqrt(x^2 - 1))): x^2 is exact, x^2 - 1 (as (x - 1)(x + 1)) off by 3 u, 4 u in all: below
 * 2^-47. NaN below 1.
 */
export const acoshPair =
  (log1p: Estimate): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const less = keep(f64x4.sub(x, all(1)));
    const v = f64x4.add(less, f64x4.sqrt(f64x4.mul(less, f64x4.add(x, all(1)))));
    return choose(f64x4.lt(x, all(1)), all(NaN), log1p(builder, keep(v)));
  };

/** atanh |x| = log(1 + 2|x| / (1 - |x|)) / 2: 2 u on the argument: below 2^-47. Infinity at 1, NaN beyond. */
export const atanhPair =
  (log1p: Estimate): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const a = keep(f64x4.abs(x));
    const v = f64x4.div(f64x4.add(a, a), f64x4.sub(all(1), a));
    return withSign(f64x4.mul(all(0.5), log1p(builder, keep(v))), x);
  };

/**
 * x^y = e^(y log |x|) with the sign of x for odd y; C99 Annex F. |y log |x|| is cut to 112: its error is at most 112
 * (2^-49 + u) < 2^-42.1, e^x adds 2^-51.5. Where x is finite and below 0 and y is no integer: NaN.
 */
export const powPair =
  (log: Estimate, exp: Estimate): Estimate =>
  (builder, x, y) => {
    const { keep } = builder;
    const a = keep(f64x4.abs(x));
    const power = keep(exp(builder, keep(f64x4.mul(y, log(builder, a)))));
    // x^0 and 1^y are 1, of NaNs too; (-1)^Infinity as well.
    const one = v256.or(f64x4.eq(y, all(0)), f64x4.eq(x, all(1)));
    const minusOne = v256.and(f64x4.eq(a, all(1)), f64x4.eq(f64x4.abs(y), all(Infinity)));
    const result = keep(choose(v256.or(one, minusOne), all(1), power));
    const half = f64x4.mul(y, all(0.5));
    const isOdd = f64x4.ne(f64x4.nearest(half), half);
    const isWhole = keep(f64x4.eq(f64x4.nearest(y), y));
    const signed = withSign(result, v256.and(x, v256.and(isOdd, isWhole)));
    const negative = v256.and(f64x4.lt(x, all(0)), f64x4.gt(x, all(-Infinity)));
    const undefinedPower = v256.and(negative, v256.andNot(f64x4.eq(y, y), isWhole));
    return choose(undefinedPower, all(NaN), signed);
  };
