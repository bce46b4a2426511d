import { PI_OVER_2 } from "../../elementary/fixed.ts";
import { TWO_OVER_PI } from "../../elementary/trigCore.ts";
import { UNKNOWN } from "./certified.ts";
import { all, allBits } from "./pool.ts";
import { f64x4, i64x4, v256, type Wide } from "./wide.ts";
import { choose, horner, inverseFactorial, lookUpPairs, ROUNDER, type Estimate, type Builder } from "./vectorMath.ts";

/*
 * x = n pi/2 + r for float32 x below 2^20 in magnitude, so that n < 2^20: pi/2 = P1 + P2 + P3, P1 a multiple of 2^-32
 * and P2 of 2^-65, both of at most 33 bits, so that n P1 and n P2 are exact; P3 < 2^-65, off by 2^-118.
 *
 * r1 = x - n P1 is exact: for n != 0 both are multiples of 2^-32 (a float32 above pi/4 is one of 2^-24), and
 * |r1| < 2^0. r2 = r1 - n P2 is a multiple of 2^-65: exact below 2^-12, else off by u |r2|. r = r2 - n P3:
 * |n P3| < 2^-45, off by 2^-97; no float32 in this range is closer than 2^-29.2 to a multiple of pi/2 other than 0 (see
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

/**
 * x as quarter turns and an angle r. `known` replaces the results for x out of the reduction's range; infinite x give
 * NaN.
 */
export type AngleReduction = (builder: Builder, x: Wide) => { quadrant: Wide; r: Wide; known: (result: Wide) => Wide };

/** For |x| < 2^20. */
export const nearReduction: AngleReduction = ({ keep }, x) => {
  const quadrant = keep(f64x4.add(f64x4.mul(x, all(PER_HALF_PI)), ROUNDER));
  const n = keep(f64x4.sub(quadrant, ROUNDER));
  const two = f64x4.sub(f64x4.sub(x, f64x4.mul(n, all(P1))), f64x4.mul(n, all(P2)));
  return {
    quadrant,
    r: keep(f64x4.sub(two, f64x4.mul(n, all(P3)))),
    known: (result) => choose(f64x4.lt(f64x4.abs(x), all(LIMIT)), result, all(UNKNOWN)),
  };
};

/*
 * x = y 2^e, 2^23 <= |y| < 2^24 whole, for float32 x from 2^20 on in magnitude (Payne and Hanek): y T quarter turns,
 * T = 2^e 2/pi modulo 4 = t1 + t2 + t3, for each e from a table.
 *
 * t1 is a multiple of 2^-27 and t2 < 2^-27 of 2^-56, both of at most 29 bits: y t1 and y t2 are exact. t3 < 2^-56 is
 * off by 2^-110, y t3 < 2^-32 by 2^-85. f1 = y t1 - n1, n1 next to it, is exact. s = f1 + y t2 is a multiple of 2^-56
 * below 0.625: exact below 2^-3, else off by u |s|; s - n2, n2 next to s, is exact, at least 0.375 if n2 is not 0: off
 * by 1.7 u relative. f = (s - n2) + y t3: no float32 is closer than 2^-29.9 quarter turns to a whole one (see
 * src/numerics/elementary/trigCore.ts), so that 2^-85 weighs 2^-55: off by less than 3 u. r = f pi/2: by less than 5 u;
 * |r| < 0.7855.
 */
const FIRST_EXPONENT = 20;
const ENTRIES = 128;
const ENTRY_BYTES = 16;
const FIELD = 0x7ffn;
const MANTISSA_BITS = 52n;
const BIAS = 1023n;
/** Significand bits of a float32 after the first. */
const PLACES = 23n;
const HALF_PI = Number(PI_OVER_2) * 2 ** -Number(BITS);

export const TURNS_TABLE_BYTES = 2 * ENTRIES * ENTRY_BYTES;

/** t1 and t2 side by side for each exponent, then t3 and 0; cut down but for t3. */
export function turnsTable(): number[] {
  const fraction = 400n;
  const window = (1n << (fraction + 2n)) - 1n;
  const parts = Array.from({ length: ENTRIES }, (_, n) => {
    const e = BigInt(FIRST_EXPONENT + n) - PLACES;
    const turns = (TWO_OVER_PI << (fraction - 384n + e)) & window;
    const first = turns >> (fraction - 27n);
    const second = (turns >> (fraction - 56n)) & ((1n << 29n) - 1n);
    const rest = turns & ((1n << (fraction - 56n)) - 1n);
    return [Number(first) * 2 ** -27, Number(second) * 2 ** -56, Number(rest >> (fraction - 256n)) * 2 ** -256];
  });
  return [...parts.flatMap(([first, second]) => [first!, second!]), ...parts.flatMap(([, , third]) => [third!, 0])];
}

/** For |x| >= 2^20. */
export const farReduction =
  (table: number): AngleReduction =>
  (builder, x) => {
    const { keep } = builder;
    const field = v256.and(i64x4.shrU(x, Number(MANTISSA_BITS)), allBits(FIELD));
    const entry = i64x4.sub(field, allBits(BIAS + BigInt(FIRST_EXPONENT)));
    // Other numbers may have any entry.
    const index = keep(i64x4.shl(v256.and(entry, allBits(BigInt(ENTRIES - 1))), Math.log2(ENTRY_BYTES)));
    const tables = [table, table + ENTRIES * ENTRY_BYTES];
    const [first, second, third] = lookUpPairs(builder, tables, index) as [Wide, Wide, Wide];
    const mantissa = v256.andNot(x, allBits(FIELD << MANTISSA_BITS));
    const y = keep(v256.or(mantissa, allBits((BIAS + PLACES) << MANTISSA_BITS)));
    const product = keep(f64x4.mul(y, first));
    const turns = keep(f64x4.add(product, ROUNDER));
    const s = keep(f64x4.add(f64x4.sub(product, f64x4.sub(turns, ROUNDER)), f64x4.mul(y, second)));
    const more = keep(f64x4.add(s, ROUNDER));
    const f = f64x4.add(f64x4.sub(s, f64x4.sub(more, ROUNDER)), f64x4.mul(y, third));
    const a = keep(f64x4.abs(x));
    const orNaN = (result: Wide): Wide => choose(f64x4.lt(a, all(Infinity)), result, all(NaN));
    return {
      quadrant: keep(i64x4.add(turns, more)),
      r: keep(f64x4.mul(f, all(HALF_PI))),
      known: (result) => choose(f64x4.lt(a, all(LIMIT)), all(UNKNOWN), orNaN(result)),
    };
  };

const alternating = (first: number, terms: number): number[] =>
  Array.from({ length: terms }, (_, n) => (n % 2 === 0 ? -1 : 1) * inverseFactorial(first + 2 * n));

/**
 * sin r = r + r^3 s(r^2), cut after r^15/15!: the rest is below 2^-53.8 |r|; s is off by 4 u, the products by 3 u more
 * and weigh r^2/6 < 0.103: below 2.5 u. cos r = 1 - r^2/2 + ..., cut after r^16/16!: the rest is below 2^-58; r^2 is
 * off by u, the sum by less than 2 u of at least 0.707: below 3.5 u. The error of r, at most 5 u, weighs at most 1, in
 * the cosine 0.79. All below 2^-50 relative, a quotient of two below 2^-49.
 */
function parts(
  reduction: AngleReduction,
  builder: Builder,
  x: Wide,
): ReturnType<AngleReduction> & { sine: Wide; cosine: Wide } {
  const { keep } = builder;
  const reduced = reduction(builder, x);
  const { r } = reduced;
  const square = keep(f64x4.mul(r, r));
  const sine = keep(f64x4.madd(f64x4.mul(r, square), horner(builder, square, alternating(3, 7)), r));
  const cosine = keep(f64x4.madd(square, horner(builder, square, alternating(2, 8)), all(1)));
  return { ...reduced, sine, cosine };
}

/** Returns all bits set in the lanes whose quadrant has the given bit set. */
const withBit = (quadrant: Wide, bit: number): Wide => i64x4.shrS(i64x4.shl(quadrant, 63 - bit), 63);

const SIGN = all(-0);

export const sinPair =
  (reduction: AngleReduction): Estimate =>
  (builder, x) => {
    const { sine, cosine, quadrant, known } = parts(reduction, builder, x);
    const value = choose(withBit(quadrant, 0), cosine, sine);
    return known(v256.xor(value, v256.and(withBit(quadrant, 1), SIGN)));
  };

export const cosPair =
  (reduction: AngleReduction): Estimate =>
  (builder, x) => {
    const { sine, cosine, quadrant, known } = parts(reduction, builder, x);
    const value = choose(withBit(quadrant, 0), sine, cosine);
    const sign = v256.xor(withBit(quadrant, 0), withBit(quadrant, 1));
    return known(v256.xor(value, v256.and(sign, SIGN)));
  };

export const tanPair =
  (reduction: AngleReduction): Estimate =>
  (builder, x) => {
    const { keep } = builder;
    const { sine, cosine, quadrant, known } = parts(reduction, builder, x);
    const odd = keep(withBit(quadrant, 0));
    const value = f64x4.div(choose(odd, cosine, sine), choose(odd, sine, cosine));
    return known(v256.xor(value, v256.and(odd, SIGN)));
  };
