/**
 * Fixed point with 252 fraction bits (Q252), used by the elementary functions of float64; products and quotients are
 * cut down. contracts/verifier/elementary64/Wide.sol mirrors this file: in the contract a number has one word with 256
 * bits, and products and dividends have 512.
 */
import type { Word } from "../dtype.ts";
import type { Scaled } from "../elementary/fixed.ts";
import { integerSqrt } from "../float.ts";
import { FLOAT64 } from "../format.ts";
import { bitLength, roundToFormat } from "../round.ts";

export const FRACTION = 252;
/** 1 in Q252. */
export const WIDE_ONE = 1n << 252n;
/** The fraction bits of the argument of e^t, |t| < 2^10, and of logarithms: Q244. */
export const ARGUMENT_FRACTION = 244;
/** ln 2 in Q244, to the nearest: within 2^-245. */
export const LN2 = 0xb17217f7d1cf79abc9e3b39803f2f6af40f343267298b62d8a0d175b8bab0n;
/** pi/2 in Q252, to the nearest: within 2^-253. */
export const PI_OVER_2 = 0x1921fb54442d18469898cc51701b839a252049c1114cf98e804177d4c7627364n;

/**
 * Below 2^-27 a function f with |f(x)/x - 1| <= x^2/3 + x^4 < 2^-55.5 rounds to x: neighbouring float64 are at least
 * 2^-53 |x| apart, so that every rounding boundary is at least 2^-54 |x| away.
 */
export const BITS_OF_2_TO_MINUS_27 = 0x3e40000000000000n;
/** From 2^10 on the exponential of float64 over- or underflows. */
export const BITS_OF_1024 = 0x4090000000000000n;

/** Multiplies two numbers, one in Q252; the product has the other's format. */
export const times = (a: bigint, b: bigint): bigint => (a * b) >> 252n;

/** Divides two numbers with the same format; the quotient is in Q252. */
export const over = (a: bigint, b: bigint): bigint => (a << 252n) / b;

/** `value * 2^shift`, cut down. */
export const shifted = (value: bigint, shift: number): bigint =>
  shift >= 0 ? value << BigInt(shift) : value >> BigInt(-shift);

/**
 * The square root of 0 < value < 2^254, mantissa in 2^252 .. 2^255: relative error below 2^-251.
 *
 * A shift by an even number of bits moves the value to 2^252 .. 2^254. The shifted value's integer root has 127 bits
 * and is off by less than 2^-126 relative. Heron's step takes the mean of the root and the quotient by the root:
 * 2^-253, and two cuts.
 */
export function squareRoot(value: bigint): Scaled {
  const shift = (254 - bitLength(value)) & ~1;
  const radicand = value << BigInt(shift);
  const root = integerSqrt(radicand);
  return { mantissa: (root << 127n) + (radicand << 127n) / root, exponent: -(128 + shift / 2) };
}

/**
 * Rounds an approximation `v = mantissa * 2^exponent > 0` (negated if `negative`) of a real number within v(1 - 2^-216)
 * .. v(1 + 2^-216): the last rung of docs/numerics.md, "float64".
 *
 * If both ends round alike, the result is correctly rounded. Otherwise the enclosure holds a rounding boundary. By
 * definition, the number then equals the boundary and rounds to the neighbour with the even significand.
 */
export function roundWide(negative: boolean, mantissa: bigint, exponent: number): Word {
  const halfWidth = mantissa >> 216n;
  const low = roundToFormat(FLOAT64, negative, mantissa - halfWidth, exponent);
  const high = roundToFormat(FLOAT64, negative, mantissa + halfWidth, exponent);
  return low === high || (low & 1n) === 0n ? low : high;
}
