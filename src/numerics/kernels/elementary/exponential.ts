import { expFixed } from "../../elementary/expCore.ts";
import { LN2 } from "../../elementary/fixed.ts";
import { all, allBits } from "./pool.ts";
import { f64x4, i64x4, v256, type Wide } from "./wide.ts";
import { horner, inverseFactorial, lookUp, ROUNDER, withSign, type Builder, type Estimate } from "./vectorMath.ts";

/*
 * e^x = 2^k T e^t with n = 32 k + j = round(x / L), L = ln(2)/32, T = 2^(j/32) from a table of 32, t = x - n L,
 * |x| <= 112, hence |n| < 2^13. |t| < L/2 + 2^-40 (the rounding of x / L) < 2^-6.5. Every bound holds whether or not
 * products are rounded before something is added to them.
 *
 * To first order L is one float64: its error, u L, is taken n times, and n L <= 112.1 may be rounded: t is off by less
 * than 112.1 u + 64 u < 2^-45.5, and by u |t|. To second order L = L1 + L2 where L1 is a multiple of 2^-45 below 2^-5
 * (40 bits: n L1 is exact), |L2| < 2^-45, and L2 off by less than 2^-99. Errors of t: that of x - n L1, at most u |t|;
 * that of the second subtraction, the same; n times the error of L2 and the rounding of n L2, below 2^-85: in all below
 * 2^-58. For n = 0, t = x exactly.
 *
 * p(t) = t + t^2/2 + ... + t^6/720: the rest is below |t|^7/5040 (1 + 2^-9): 2^-51.3 |t|; without the last term it is
 * below |t|^6/720 (1 + 2^-8) < 2^-48.4. In t + t^2 q(t) the errors of q (less than 4 u) and of the two products weigh
 * |t|/2 < 2^-7.5 of t, the last sum adds u: p is off by less than 2^-51.3 + 1.1 u < 2^-50.8 relative; in p = t q(t),
 * with one term less, both roundings add 2.2 u and the rest 2^-48.4.
 */
/** ln(2)/32 as one float64. */
export const L = Number(LN2) * 2 ** -131;
const ROUNDED = (LN2 + (1n << 85n)) >> 86n;
const L1 = Number(ROUNDED) * 2 ** -45;
const L2 = Number(LN2 - (ROUNDED << 86n)) * 2 ** -131;
/** The factor that replaces a division by L1 + L2. */
export const PER_L = 1 / (L1 + L2);
const STEPS = 32;
const LIMIT = 112;

export const EXPONENTIAL_TABLE_BYTES = 8 * STEPS;

/** 2^(j/32), to the nearest but for 2^-118. */
export const exponentialTable = (): number[] =>
  Array.from({ length: STEPS }, (_, j) => {
    const { mantissa, exponent } = expFixed((LN2 * BigInt(j)) / BigInt(STEPS));
    return Number(mantissa) * 2 ** exponent;
  });

/** n = 32 k + j, and 2^k T (as `scale`), for x cut to 112 in magnitude; NaN stays NaN. */
function scaled({ keep }: Builder, table: number, x: Wide): { cut: Wide; n: Wide; scale: Wide } {
  const cut = keep(f64x4.pmax(f64x4.pmin(x, keep(all(LIMIT))), keep(all(-LIMIT))));
  const rounder = keep(ROUNDER);
  const integer = keep(f64x4.madd(cut, keep(all(PER_L)), rounder));
  const n = keep(f64x4.sub(integer, rounder));
  // The lower bits are 32 k + j; k is added to the exponent, which |k| < 2^8 keeps normal.
  const power = i64x4.shl(v256.andNot(integer, keep(allBits(BigInt(STEPS - 1)))), 47);
  const j = keep(i64x4.shl(v256.and(integer, keep(allBits(BigInt(STEPS - 1)))), 3));
  return { cut, n, scale: keep(i64x4.add(lookUp(table, j), power)) };
}

/**
 * e^x: scale + scale p, to first order, p of five terms. Off by u (the table), |p| < 2^-6.5 of 2 u and of p's rounding,
 * u (the sum), 2^-45.5 (t), 2^-48.4 (the rest): below 2^-45.2 relative. Beyond 112 in magnitude it is that of 112:
 * e^112 > 2^128 and e^-112 < 2^-150 round to Infinity and 0 as well, and so do products with factors near 1.
 */
export const expPair =
  (table: number): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const { cut, n, scale } = scaled(builder, table, x);
    const t = keep(f64x4.madd(n, keep(all(-L)), cut));
    const q = horner(builder, t, [1, 2, 3, 4, 5].map(inverseFactorial));
    return f64x4.madd(scale, keep(f64x4.mul(t, q)), scale);
  };

/** `scale` and p(t) of six terms, to second order. */
function fineParts(builder: Builder, table: number, x: Wide): { scale: Wide; p: Wide } {
  const { keep } = builder;
  const { cut, n, scale } = scaled(builder, table, x);
  const t = keep(f64x4.madd(n, keep(all(-L2)), keep(f64x4.madd(n, keep(all(-L1)), cut))));
  const q = horner(builder, t, [2, 3, 4, 5, 6].map(inverseFactorial));
  return { scale, p: keep(f64x4.madd(keep(f64x4.mul(t, t)), q, t)) };
}

/** e^x to second order: without 2^-45.5 and 2^-48.4, but with 2^-50.8 of |p| and 2^-58 (t): below 2^-51.5 relative. */
export const fineExpPair =
  (table: number): Estimate =>
  (builder, x) => {
    const { scale, p } = fineParts(builder, table, x);
    return f64x4.madd(scale, p, scale);
  };

/**
 * e^x - 1: (scale - 1) + scale p. For n = 0 that is p: 2^-50.8 relative. Else |x| > 0.0107 and |e^x - 1| > 0.0106
 * max(1, e^x), scale < 1.011 e^x, and the errors are u scale (the table), u |scale - 1|, 2^-50 |p| scale, 2^-58 scale
 * and u of the result: below 2^-53 (95 + 95 + 12 + 3 + 1) < 2^-45.3 relative.
 */
export const expm1Pair =
  (table: number): Estimate =>
  (builder, x) => {
    const { scale, p } = fineParts(builder, table, x);
    return f64x4.madd(scale, p, f64x4.sub(scale, builder.keep(all(1))));
  };

/** 1 / (1 + e^-x): e^-x is off by 2^-45.2 relative, two roundings more: below 2^-45.1. */
export const sigmoidPair =
  (exp: Estimate): Estimate =>
  (builder, x) => {
    const one = builder.keep(all(1));
    return f64x4.div(one, f64x4.add(one, exp(builder, builder.keep(f64x4.neg(x)))));
  };

const magnitude = (x: Wide): Wide => f64x4.abs(x);

/**
 * tanh |x| = q / (q + 2), q = e^(2|x|) - 1: an error of q weighs 2 / (q + 2) <= 1, two roundings more: below 2^-45.2.
 */
export const tanhPair =
  (expm1: Estimate): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const q = keep(expm1(builder, keep(f64x4.add(magnitude(x), magnitude(x)))));
    return withSign(f64x4.div(q, f64x4.add(q, all(2))), x);
  };

/**
 * sinh |x| = (q + q / (q + 1)) / 2, q = e^|x| - 1: an error of q weighs ((q + 1)^2 + 1) / ((q + 1) (q + 2)) <= 1, three
 * roundings of positive terms more: below 2^-45.
 */
export const sinhPair =
  (expm1: Estimate): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const q = keep(expm1(builder, keep(magnitude(x))));
    return withSign(f64x4.mul(all(0.5), f64x4.add(q, f64x4.div(q, f64x4.add(q, all(1))))), x);
  };

/** cosh x = (e + 1/e) / 2, e = e^|x|: below 2^-45. */
export const coshPair =
  (exp: Estimate): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const e = keep(exp(builder, keep(magnitude(x))));
    return f64x4.mul(all(0.5), f64x4.add(e, f64x4.div(all(1), e)));
  };
