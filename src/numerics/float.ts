import type { Word } from "./dtype.ts";
import type { FloatFormat } from "./format.ts";
import { bitLength, roundToFormat } from "./round.ts";

/** A finite number as `(-1)^negative * mantissa * 2^exponent`. */
export type Decoded = { negative: boolean; mantissa: bigint; exponent: number };

type Unary = (a: Word) => Word;
type Binary = (a: Word, b: Word) => Word;

/** The primitives for one format on words (bits in a bigint). */
export type FloatArithmetic = Record<
  "add" | "sub" | "mul" | "div" | "fmod" | "min" | "max" | "eq" | "lt" | "le",
  Binary
> &
  Record<"neg" | "abs" | "sign" | "sqrt" | "floor" | "ceil" | "round" | "canonical", Unary> & {
    format: FloatFormat;
    isNaN: (a: Word) => boolean;
    isInfinite: (a: Word) => boolean;
    /** Sign, mantissa and exponent of a finite word. Meaningless for NaN and infinities. */
    decode: (a: Word) => Decoded;
  };

/** Largest integer whose square is at most `value`. */
export function integerSqrt(value: bigint): bigint {
  if (value === 0n) return 0n;
  let root: bigint;
  let next = 1n << BigInt((bitLength(value) + 1) >> 1); // above the root: Newton's steps decrease until they reach it
  do {
    root = next;
    next = (root + value / root) >> 1n;
  } while (next < root);
  return root;
}

const signed = ({ negative, mantissa }: Decoded): bigint => (negative ? -mantissa : mantissa);
const truth = (condition: boolean): Word => (condition ? 1n : 0n);

/** Returns both values as integers over the smaller exponent. */
function align(a: Decoded, b: Decoded): { a: bigint; b: bigint; exponent: number } {
  const exponent = Math.min(a.exponent, b.exponent);
  return { a: signed(a) << BigInt(a.exponent - exponent), b: signed(b) << BigInt(b.exponent - exponent), exponent };
}

/**
 * Returns the primitives of a format: each gives the exact real result, rounded once. Every function is total, reads -0
 * as +0 and any NaN as the format's canonical NaN, and returns neither -0 nor another NaN. Comparisons return 0n or 1n.
 */
export function floatArithmetic(format: FloatFormat): FloatArithmetic {
  const { bits, fractionBits, lowestExponent, sign: SIGN_BIT, infinity: INFINITY_, nan: NAN } = format;
  const MAGNITUDE = SIGN_BIT - 1n;
  const NEG_INFINITY = SIGN_BIT | INFINITY_;
  const HIDDEN = 1n << BigInt(fractionBits);
  const ONE = roundToFormat(format, false, 1n, 0);
  /** The minimum number of bits that a quotient or root gets beyond the kept bits. */
  const EXTRA = 2 * fractionBits + 4;

  const canonical = (a: Word): Word => {
    const magnitude = a & MAGNITUDE;
    if (magnitude > INFINITY_) return NAN;
    return magnitude === 0n ? 0n : BigInt.asUintN(bits, a);
  };
  const isNaN = (a: Word): boolean => (a & MAGNITUDE) > INFINITY_;
  const isInfinite = (a: Word): boolean => (a & MAGNITUDE) === INFINITY_;
  const isFinite = (a: Word): boolean => (a & MAGNITUDE) < INFINITY_;
  const isNegative = (a: Word): boolean => (a & SIGN_BIT) !== 0n;
  const isZero = (a: Word): boolean => (a & MAGNITUDE) === 0n;

  function decode(a: Word): Decoded {
    const field = Number((a & MAGNITUDE) >> BigInt(fractionBits));
    const fraction = a & (HIDDEN - 1n);
    return field === 0
      ? { negative: isNegative(a), mantissa: fraction, exponent: lowestExponent }
      : { negative: isNegative(a), mantissa: fraction | HIDDEN, exponent: field - 1 + lowestExponent };
  }

  /** Rounds the signed value `mantissa * 2^exponent`. */
  const roundSigned = (mantissa: bigint, exponent: number): Word =>
    roundToFormat(format, mantissa < 0n, mantissa < 0n ? -mantissa : mantissa, exponent);

  function add(a: Word, b: Word): Word {
    if (isNaN(a) || isNaN(b)) return NAN;
    if (isInfinite(a)) return isInfinite(b) && isNegative(a) !== isNegative(b) ? NAN : canonical(a);
    if (isInfinite(b)) return canonical(b);
    const terms = align(decode(a), decode(b));
    return roundSigned(terms.a + terms.b, terms.exponent);
  }

  function mul(a: Word, b: Word): Word {
    if (isNaN(a) || isNaN(b)) return NAN;
    const negative = isNegative(a) !== isNegative(b);
    if (isInfinite(a) || isInfinite(b)) return isZero(a) || isZero(b) ? NAN : negative ? NEG_INFINITY : INFINITY_;
    const x = decode(a);
    const y = decode(b);
    return roundToFormat(format, negative, x.mantissa * y.mantissa, x.exponent + y.exponent);
  }

  /** x/0 is Infinity with the sign of x (the zero has none), 0/0 and Inf/Inf are NaN. */
  function div(a: Word, b: Word): Word {
    if (isNaN(a) || isNaN(b) || (isInfinite(a) && isInfinite(b)) || (isZero(a) && isZero(b))) return NAN;
    if (isZero(b)) return isNegative(a) ? NEG_INFINITY : INFINITY_;
    const negative = isNegative(a) !== isNegative(b);
    if (isInfinite(a)) return negative ? NEG_INFINITY : INFINITY_;
    if (isInfinite(b)) return 0n;
    const x = decode(a);
    const y = decode(b);
    const dividend = x.mantissa << BigInt(EXTRA); // so that the quotient has more bits than are kept
    const sticky = dividend % y.mantissa !== 0n;
    return roundToFormat(format, negative, dividend / y.mantissa, x.exponent - EXTRA - y.exponent, sticky);
  }

  /**
   * C's fmod: a - n*b with n = trunc(a/b) over the reals; exact, with the sign of a. fmod(x, 0) and fmod(Inf, y) are
   * NaN.
   */
  function fmod(a: Word, b: Word): Word {
    if (isNaN(a) || isNaN(b) || isInfinite(a) || isZero(b)) return NAN;
    if (isInfinite(b)) return canonical(a);
    const terms = align(decode(a), decode(b));
    return roundSigned(terms.a % terms.b, terms.exponent); // BigInt's % truncates as well
  }

  /** Square root; NaN below zero. */
  function sqrt(a: Word): Word {
    if (isNaN(a)) return NAN;
    if (isZero(a)) return 0n;
    if (isNegative(a)) return NAN;
    if (isInfinite(a)) return INFINITY_;
    const { mantissa, exponent } = decode(a);
    const shift = exponent % 2 === 0 ? EXTRA : EXTRA + 1; // an even exponent, and a root of more bits than are kept
    const square = mantissa << BigInt(shift);
    const root = integerSqrt(square);
    return roundToFormat(format, false, root, (exponent - shift) / 2, root * root !== square);
  }

  /** -1, 0 or 1; NaN for NaN. */
  function sign(a: Word): Word {
    if (isNaN(a)) return NAN;
    if (isZero(a)) return 0n;
    return isNegative(a) ? SIGN_BIT | ONE : ONE;
  }

  /** Returns an integer ordered like the values of non-NaN words; both zeros give 0. */
  const order = (a: Word): bigint => (isNegative(a) ? -(a & MAGNITUDE) : a & MAGNITUDE);
  const areNumbers = (a: Word, b: Word): boolean => !isNaN(a) && !isNaN(b);

  /** Applies an integer rounding of `mantissa / 2^places` to a nonintegral value. */
  function toIntegral(a: Word, rounding: (mantissa: bigint, places: bigint) => bigint): Word {
    if (!isFinite(a)) return canonical(a);
    const value = decode(a);
    if (value.exponent >= 0) return canonical(a);
    return roundSigned(rounding(signed(value), BigInt(-value.exponent)), 0);
  }

  return {
    format,
    canonical,
    isNaN,
    isInfinite,
    decode,
    add,
    sub: (a, b) => add(a, b ^ SIGN_BIT),
    mul,
    div,
    fmod,
    sqrt,
    neg: (a) => canonical(a ^ SIGN_BIT),
    abs: (a) => canonical(a & MAGNITUDE),
    sign,
    // IEEE 754-2019 minimum and maximum: NaN if either is.
    min: (a, b) => (areNumbers(a, b) ? canonical(order(a) < order(b) ? a : b) : NAN),
    max: (a, b) => (areNumbers(a, b) ? canonical(order(a) < order(b) ? b : a) : NAN),
    floor: (a) => toIntegral(a, (mantissa, places) => mantissa >> places),
    ceil: (a) => toIntegral(a, (mantissa, places) => -(-mantissa >> places)),
    round: (a) => toIntegral(a, halfToEven),
    eq: (a, b) => truth(areNumbers(a, b) && order(a) === order(b)),
    lt: (a, b) => truth(areNumbers(a, b) && order(a) < order(b)),
    le: (a, b) => truth(areNumbers(a, b) && order(a) <= order(b)),
  };
}

/** The integer nearest to `mantissa / 2^places`, half to even. */
function halfToEven(mantissa: bigint, places: bigint): bigint {
  const below = mantissa >> places;
  const twiceRest = (mantissa - (below << places)) << 1n;
  const one = 1n << places;
  return twiceRest > one || (twiceRest === one && (below & 1n) === 1n) ? below + 1n : below;
}

/**
 * Converts a word from one format to another, rounded once; exact if the target format contains all values of the
 * source format.
 */
export function convertWord(a: Word, from: FloatArithmetic, to: FloatFormat): Word {
  if (from.isNaN(a)) return to.nan;
  const { negative, mantissa, exponent } = from.decode(a);
  if (from.isInfinite(a)) return negative ? to.sign | to.infinity : to.infinity;
  return roundToFormat(to, negative, mantissa, exponent);
}
