import { atanQuotient } from "../../elementary/atanCore.ts";
import { PI_OVER_2 } from "../../elementary/fixed.ts";
import { all, allBits } from "./pool.ts";
import { f64x4, i64x4, v256 } from "./wide.ts";
import { choose, horner, lookUp, ROUNDER, withSign, type Estimate } from "./vectorMath.ts";

const STEPS = 64;
const INDEX_MASK = 2 * STEPS - 1;

export const ARC_TABLE_BYTES = 8 * (INDEX_MASK + 1);

/** atan(i/64) to the nearest but for 2^-122. */
export const arcTable = (): number[] =>
  Array.from({ length: STEPS + 1 }, (_, i) => {
    const { mantissa, exponent } = atanQuotient(BigInt(i), BigInt(STEPS));
    return Number(mantissa) * 2 ** exponent;
  });

const HALF_PI = Number(PI_OVER_2) * 2 ** -126;

/**
 * atan |x| = atan c + atan t, t = (y - c)/(1 + y c), y = min(|x|, 1/|x|), c = i/64 next to y; subtracted from pi/2
 * where |x| > 1.
 *
 * y is off by u, which weighs at most 1. y - c is exact, 1 + y c off by 1.5 u, t by 2.5 u, |t| <= 1/128; for i = 0,
 * t = y but for u. The Taylor series is cut after t^7/7: the rest is below |t|^9/9 < 2^-59 |t|, and t + t^3 q(t^2) off
 * by less than 1.1 u. i != 0: atan y > 0.0078, atan c < 2.1 atan y, |t| < 1.1 atan y: below 2.1 u + 4 u + u + u.
 * pi/2 - a >= pi/4: u for the constant and the difference each. In all below 2^-49 relative.
 */
export const atanPair =
  (table: number): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const a = keep(f64x4.abs(x));
    const isLarge = keep(f64x4.gt(a, all(1)));
    const y = keep(choose(isLarge, f64x4.div(all(1), a), a));
    const integer = keep(f64x4.add(f64x4.mul(y, all(STEPS)), ROUNDER));
    const c = keep(f64x4.mul(f64x4.sub(integer, ROUNDER), all(1 / STEPS)));
    // A NaN may have any bits.
    const index = keep(i64x4.shl(v256.and(integer, allBits(BigInt(INDEX_MASK))), 3));
    const t = keep(f64x4.div(f64x4.sub(y, c), f64x4.add(all(1), f64x4.mul(y, c))));
    const square = keep(f64x4.mul(t, t));
    const q = horner(builder, square, [-1 / 3, 1 / 5, -1 / 7]);
    const small = f64x4.add(t, f64x4.mul(f64x4.mul(t, square), q));
    const angle = keep(f64x4.add(lookUp(table, index), small));
    return withSign(choose(isLarge, f64x4.sub(all(HALF_PI), angle), angle), x);
  };

/**
 * asin x = atan(x / sqrt((1 - x)(1 + x))): 1 - x and 1 + x off by u, the quotient by 3.5 u: below 2^-48.5. NaN beyond
 * 1.
 */
export const asinPair =
  (atan: Estimate): Estimate =>
  (builder, x) => {
    const root = f64x4.sqrt(f64x4.mul(f64x4.sub(all(1), x), f64x4.add(all(1), x)));
    return atan(builder, builder.keep(f64x4.div(x, root)));
  };

/** acos x = 2 atan(sqrt((1 - x)/(1 + x))): below 2^-48.5. NaN beyond 1. */
export const acosPair =
  (atan: Estimate): Estimate =>
  (builder, x) => {
    const quotient = f64x4.div(f64x4.sub(all(1), x), f64x4.add(all(1), x));
    return f64x4.mul(all(2), atan(builder, builder.keep(f64x4.sqrt(quotient))));
  };
