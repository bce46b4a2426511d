import { PI_OVER_2 } from "../../numerics/elementary/fixed.ts";
import { UNKNOWN } from "./certified.ts";
import { all } from "./pool.ts";
import { f64x2, i64x2, v128, type Wide } from "./wide.ts";
import { choose, horner, inverseFactorial, ROUNDER, type Estimate, type Builder } from "./vectorMath.ts";

/*
 * x = n pi/2 + r for float32 x below 2^20 in magnitude, so that n < 2^20: pi/2 = P1 + P2 + P3, P1 a multiple of 2^-32 and P2 of 2^-65, both of at most 33 bits, so that n P1 and n P2 are
 * exact; P3 < 2^-65, off by 2^-118.
 *
 * r1 = x - n P1 is exact: for n != 0 both are multiples of 2^-32 (a float32 above pi/4 is one of 2^-24), and |r1| < 2^0. r2 = r1 - n P2 is a multiple of 2^-65: exact
 * below 2^-12, else off by u |r2|. r = r2 - n P3: |n P3| < 2^-45, off by 2^-97; no float32 in this range is closer than 2^-29.2 to a multiple of pi/2 other than 0 (see
 * src/numerics/elementary/trigCore.ts), so that 2^-97 weighs 2^-67. r is off by 2.1 u relative; |r| < 0.7855.
 */
const BITS = 126n;
const P1_INTEGER = PI_OVER_2 >> (BITS - 32n);
const P2_INTEGER = (PI_OVER_2 >> (BITS - 65n)) - (P1_INTEGER << 33n);
const P1 = Number(P1_INTEGER) * 2 ** -32;
const P2 = Number(P2_INTEGER) * 2 ** -65;
const P3 = Number(PI_OVER_2 - (((P1_INTEGER << 33n) + P2_INTEGER) << (BITS - 65n))) * 2 ** -126;
const PER_HALF_PI = 1 / (P1 + P2);
const LIMIT = 2 ** 20;

const alternating = (first: number, terms: number): number[] =>
  Array.from({ length: terms }, (_, n) => (n % 2 === 0 ? -1 : 1) * inverseFactorial(first + 2 * n));

/**
 * sin r = r + r^3 s(r^2), cut after r^15/15!: the rest is below 2^-53.8 |r|; s is off by 4 u, the products by 3 u more and weigh r^2/6 < 0.103: below 2.5 u.
 * cos r = 1 - r^2/2 + ..., cut after r^16/16!: the rest is below 2^-58; r^2 is off by u, the sum by less than 2 u of at least 0.707: below 3.5 u. The error of r weighs at most 1.
 * All below 2^-50 relative, a quotient of two below 2^-49.
 */
function parts(builder: Builder, x: Wide): { sine: Wide; cosine: Wide; quadrant: Wide } {
  const { keep } = builder;
  const quadrant = keep(f64x2.add(f64x2.mul(x, all(PER_HALF_PI)), ROUNDER));
  const n = keep(f64x2.sub(quadrant, ROUNDER));
  const two = f64x2.sub(f64x2.sub(x, f64x2.mul(n, all(P1))), f64x2.mul(n, all(P2)));
  const r = keep(f64x2.sub(two, f64x2.mul(n, all(P3))));
  const square = keep(f64x2.mul(r, r));
  const sine = keep(f64x2.add(r, f64x2.mul(f64x2.mul(r, square), horner(builder, square, alternating(3, 7)))));
  const cosine = keep(f64x2.add(all(1), f64x2.mul(square, horner(builder, square, alternating(2, 8)))));
  return { sine, cosine, quadrant };
}

/** All bits of the lanes whose quadrant has a bit set. */
const withBit = (quadrant: Wide, bit: number): Wide => i64x2.shrS(i64x2.shl(quadrant, 63 - bit), 63);

const known = (x: Wide, result: Wide): Wide => choose(f64x2.lt(f64x2.abs(x), all(LIMIT)), result, all(UNKNOWN));

const SIGN = all(-0);

export const sinPair = (): Estimate => (builder, x) => {
  const { sine, cosine, quadrant } = parts(builder, x);
  const value = choose(withBit(quadrant, 0), cosine, sine);
  return known(x, v128.xor(value, v128.and(withBit(quadrant, 1), SIGN)));
};

export const cosPair = (): Estimate => (builder, x) => {
  const { sine, cosine, quadrant } = parts(builder, x);
  const value = choose(withBit(quadrant, 0), sine, cosine);
  const sign = v128.xor(withBit(quadrant, 0), withBit(quadrant, 1));
  return known(x, v128.xor(value, v128.and(sign, SIGN)));
};

export const tanPair = (): Estimate => (builder, x) => {
  const { keep } = builder;
  const { sine, cosine, quadrant } = parts(builder, x);
  const odd = keep(withBit(quadrant, 0));
  const value = f64x2.div(choose(odd, cosine, sine), choose(odd, sine, cosine));
  return known(x, v128.xor(value, v128.and(odd, SIGN)));
};
