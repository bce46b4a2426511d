import { canonicalWord, DType, type Word } from "./dtype.ts";
import { bitLength, roundToFloat32 } from "./round.ts";

/**
 * float32 primitives on words (the 32 bits as a bigint): the exact real result, rounded once. Every function is total,
 * reads -0 as +0 and any NaN as {@link NAN}, and returns neither -0 nor another NaN. Comparisons return 0n or 1n.
 */

export const ZERO: Word = 0n;
export const ONE: Word = 0x3f800000n;
export const NEG_ONE: Word = 0xbf800000n;
export const INFINITY_: Word = 0x7f800000n;
export const NEG_INFINITY: Word = 0xff800000n;
export const NAN: Word = 0x7fc00000n;

const SIGN_BIT = 0x80000000n;
const MAGNITUDE = 0x7fffffffn;

/** A finite float32 as `(-1)^negative * mantissa * 2^exponent`, `mantissa < 2^24`, `-149 <= exponent <= 104`. */
export type Decoded = { negative: boolean; mantissa: bigint; exponent: number };

/** The word with -0 read as +0 and every NaN as {@link NAN}; bits above the 32nd are ignored. */
export const canonical = (a: Word): Word => canonicalWord(BigInt.asUintN(32, a), DType.float32);

export const isNaN = (a: Word): boolean => (a & MAGNITUDE) > INFINITY_;
export const isInfinite = (a: Word): boolean => (a & MAGNITUDE) === INFINITY_;
const isFinite = (a: Word): boolean => (a & MAGNITUDE) < INFINITY_;
const isNegative = (a: Word): boolean => (a & SIGN_BIT) !== 0n;
const isZero = (a: Word): boolean => (a & MAGNITUDE) === 0n;

/** Sign, mantissa and exponent of a finite word. Meaningless for NaN and infinities. */
export function decode(a: Word): Decoded {
  const field = Number((a >> 23n) & 0xffn);
  const fraction = a & 0x7fffffn;
  return field === 0
    ? { negative: isNegative(a), mantissa: fraction, exponent: -149 }
    : { negative: isNegative(a), mantissa: fraction | 0x800000n, exponent: field - 150 };
}

const buffer = new DataView(new ArrayBuffer(4));

/** The word of a JavaScript number that is a float32 value (another one is rounded to nearest even). */
export function fromNumber(value: number): Word {
  buffer.setFloat32(0, value);
  return canonical(BigInt(buffer.getUint32(0)));
}

/** The value of a word as a JavaScript number. */
export function toNumber(a: Word): number {
  buffer.setUint32(0, Number(canonical(a)));
  return buffer.getFloat32(0);
}

const signed = ({ negative, mantissa }: Decoded): bigint => (negative ? -mantissa : mantissa);

/** Rounds the signed value `mantissa * 2^exponent`. */
function roundSigned(mantissa: bigint, exponent: number): Word {
  return mantissa < 0n ? roundToFloat32(true, -mantissa, exponent) : roundToFloat32(false, mantissa, exponent);
}

/** Both values as integers over the smaller of the two exponents. */
function align(a: Decoded, b: Decoded): { a: bigint; b: bigint; exponent: number } {
  const exponent = Math.min(a.exponent, b.exponent);
  return { a: signed(a) << BigInt(a.exponent - exponent), b: signed(b) << BigInt(b.exponent - exponent), exponent };
}

export function add(a: Word, b: Word): Word {
  if (isNaN(a) || isNaN(b)) return NAN;
  if (isInfinite(a)) return isInfinite(b) && isNegative(a) !== isNegative(b) ? NAN : canonical(a);
  if (isInfinite(b)) return canonical(b);
  const terms = align(decode(a), decode(b));
  return roundSigned(terms.a + terms.b, terms.exponent);
}

export const sub = (a: Word, b: Word): Word => add(a, neg(b));

export function mul(a: Word, b: Word): Word {
  if (isNaN(a) || isNaN(b)) return NAN;
  const negative = isNegative(a) !== isNegative(b);
  if (isInfinite(a) || isInfinite(b)) return isZero(a) || isZero(b) ? NAN : negative ? NEG_INFINITY : INFINITY_;
  const x = decode(a);
  const y = decode(b);
  return roundToFloat32(negative, x.mantissa * y.mantissa, x.exponent + y.exponent);
}

/** x/0 is Infinity with the sign of x (the zero has none), 0/0 and Inf/Inf are NaN. */
export function div(a: Word, b: Word): Word {
  if (isNaN(a) || isNaN(b) || (isInfinite(a) && isInfinite(b)) || (isZero(a) && isZero(b))) return NAN;
  if (isZero(b)) return isNegative(a) ? NEG_INFINITY : INFINITY_;
  const negative = isNegative(a) !== isNegative(b);
  if (isInfinite(a)) return negative ? NEG_INFINITY : INFINITY_;
  if (isInfinite(b)) return ZERO;
  const x = decode(a);
  const y = decode(b);
  const dividend = x.mantissa << 50n; // so that the quotient has more than 25 bits
  const sticky = dividend % y.mantissa !== 0n;
  return roundToFloat32(negative, dividend / y.mantissa, x.exponent - 50 - y.exponent, sticky);
}

/** C's fmod: a - n*b with n = trunc(a/b) over the reals; exact, with the sign of a. fmod(x, 0) and fmod(Inf, y) are NaN. */
export function fmod(a: Word, b: Word): Word {
  if (isNaN(a) || isNaN(b) || isInfinite(a) || isZero(b)) return NAN;
  if (isInfinite(b)) return canonical(a);
  const terms = align(decode(a), decode(b));
  return roundSigned(terms.a % terms.b, terms.exponent); // BigInt's % truncates as well
}

/** Largest integer whose square is at most `value`. */
export function integerSqrt(value: bigint): bigint {
  if (value === 0n) return 0n;
  let root: bigint;
  let next = 1n << BigInt((bitLength(value) + 1) >> 1); // above the root: Newton's steps fall until they have arrived
  do {
    root = next;
    next = (root + value / root) >> 1n;
  } while (next < root);
  return root;
}

/** Square root; NaN below zero. */
export function sqrt(a: Word): Word {
  if (isNaN(a)) return NAN;
  if (isZero(a)) return ZERO;
  if (isNegative(a)) return NAN;
  if (isInfinite(a)) return INFINITY_;
  const { mantissa, exponent } = decode(a);
  const shift = exponent % 2 === 0 ? 52 : 53; // an even exponent, and a root of more than 25 bits
  const square = mantissa << BigInt(shift);
  const root = integerSqrt(square);
  return roundToFloat32(false, root, (exponent - shift) / 2, root * root !== square);
}

export const neg = (a: Word): Word => canonical(a ^ SIGN_BIT);
export const abs = (a: Word): Word => canonical(a & MAGNITUDE);

/** -1, 0 or 1; NaN for NaN. */
export function sign(a: Word): Word {
  if (isNaN(a)) return NAN;
  if (isZero(a)) return ZERO;
  return isNegative(a) ? NEG_ONE : ONE;
}

/** IEEE 754-2019 minimum: NaN if either is. */
export function min(a: Word, b: Word): Word {
  if (isNaN(a) || isNaN(b)) return NAN;
  return canonical(order(a) < order(b) ? a : b);
}

/** IEEE 754-2019 maximum: NaN if either is. */
export function max(a: Word, b: Word): Word {
  if (isNaN(a) || isNaN(b)) return NAN;
  return canonical(order(a) < order(b) ? b : a);
}

/** Applies an integer rounding of `mantissa / 2^places` to a value that is not an integer already. */
function toIntegral(a: Word, rounding: (mantissa: bigint, places: bigint) => bigint): Word {
  if (!isFinite(a)) return canonical(a);
  const value = decode(a);
  if (value.exponent >= 0) return canonical(a);
  return roundSigned(rounding(signed(value), BigInt(-value.exponent)), 0);
}

/** Largest integer not above a. */
export const floor = (a: Word): Word => toIntegral(a, (mantissa, places) => mantissa >> places);
/** Smallest integer not below a. */
export const ceil = (a: Word): Word => toIntegral(a, (mantissa, places) => -(-mantissa >> places));

/** Nearest integer, half to even. */
export function round(a: Word): Word {
  return toIntegral(a, (mantissa, places) => {
    const below = mantissa >> places;
    const twiceRest = (mantissa - (below << places)) << 1n;
    const one = 1n << places;
    return twiceRest > one || (twiceRest === one && (below & 1n) === 1n) ? below + 1n : below;
  });
}

/** An integer ordered as the values of non-NaN words are; both zeros give 0. */
const order = (a: Word): bigint => (isNegative(a) ? -(a & MAGNITUDE) : a & MAGNITUDE);

const truth = (condition: boolean): Word => (condition ? 1n : 0n);

export const eq = (a: Word, b: Word): Word => truth(!isNaN(a) && !isNaN(b) && order(a) === order(b));
export const lt = (a: Word, b: Word): Word => truth(!isNaN(a) && !isNaN(b) && order(a) < order(b));
export const le = (a: Word, b: Word): Word => truth(!isNaN(a) && !isNaN(b) && order(a) <= order(b));
