/**
 * Fixed point with 126 fraction bits (Q126), in which the elementary functions are computed.
 * contracts/verifier/elementary/Fixed.sol mirrors this file.
 */

export const FRACTION = 126;
/** 1 in Q126. */
export const FIXED_ONE = 1n << 126n;
/** ln 2 in Q126, to the nearest: within 2^-127. */
export const LN2 = 0x2c5c85fdf473de6af278ece600fcbdacn;
/** pi/2 in Q126, to the nearest: within 2^-127. */
export const PI_OVER_2 = 0x6487ed5110b4611a62633145c06e0e69n;

/**
 * Below 2^-12 a function f with |f(x)/x - 1| <= x^2/3 + x^4 < 2^-25.5 rounds to x: neighbouring float32 are at least
 * 2^-24 |x| apart, so that every rounding boundary is at least 2^-25 |x| away.
 */
export const BITS_OF_2_TO_MINUS_12 = 0x39800000n;

/** `mantissa * 2^exponent` (non-negative) in Q126, cut down: 0 <= error < 2^-126, and none if `exponent >= -126`. */
export function toFixed(mantissa: bigint, exponent: number): bigint {
  const shift = exponent + FRACTION;
  return shift >= 0 ? mantissa << BigInt(shift) : mantissa >> BigInt(-shift);
}

/** A non-negative number `mantissa * 2^exponent`. */
export type Scaled = { mantissa: bigint; exponent: number };
