/** Fixed point with 126 fraction bits (Q126): what the elementary functions compute in; contracts/verifier/elementary/Fixed.sol mirrors it. */

export const FRACTION = 126;
/** 1 in Q126. */
export const FIXED_ONE = 1n << 126n;
/** ln 2 in Q126, to the nearest: within 2^-127. */
export const LN2 = 0x2c5c85fdf473de6af278ece600fcbdacn;

/** `mantissa * 2^exponent` (non-negative) in Q126, cut down: 0 <= error < 2^-126, and none if `exponent >= -126`. */
export function toFixed(mantissa: bigint, exponent: number): bigint {
  const shift = exponent + FRACTION;
  return shift >= 0 ? mantissa << BigInt(shift) : mantissa >> BigInt(-shift);
}

/** A non-negative number `mantissa * 2^exponent`. */
export type Scaled = { mantissa: bigint; exponent: number };
