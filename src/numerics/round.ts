import type { Word } from "./dtype.ts";

const INFINITY_BITS = 0x7f800000n;
const SIGN_BIT = 0x80000000n;

/** Number of significant bits of a nonnegative integer; 0 for 0. */
export function bitLength(value: bigint): number {
  if (value === 0n) return 0;
  const hex = value.toString(16);
  return 4 * hex.length - Math.clz32(parseInt(hex[0]!, 16)) + 28;
}

/**
 * Rounds `(-1)^negative * mantissa * 2^exponent` to float32: half to even, once, subnormals kept, overflow to
 * Infinity, +0 for every result that is zero.
 *
 * @param mantissa a nonnegative integer of any length.
 * @param sticky the magnitude is larger than that by something nonzero and below `2^exponent`. Then `mantissa` must
 * reach the bit below the result's last one: `mantissa >= 2^24` or `exponent <= -150`.
 */
export function roundToFloat32(negative: boolean, mantissa: bigint, exponent: number, sticky = false): Word {
  if (mantissa === 0n) return 0n;
  const top = exponent + bitLength(mantissa) - 1; // 2^top <= magnitude < 2^(top+1)
  if (top >= 128) return negative ? SIGN_BIT | INFINITY_BITS : INFINITY_BITS;
  if (top < -150) return 0n;

  // The result is an integer multiple of 2^quantum: 24 bits, fewer for subnormals.
  const quantum = Math.max(top - 23, -149);
  const drop = quantum - exponent;
  let kept: bigint;
  if (drop <= 0) {
    kept = mantissa << BigInt(-drop);
  } else {
    kept = mantissa >> BigInt(drop);
    const rest = mantissa - (kept << BigInt(drop));
    const half = 1n << BigInt(drop - 1);
    if (rest > half || (rest === half && (sticky || (kept & 1n) === 1n))) kept += 1n;
  }

  // A normal number's leading bit adds 1 to the exponent field, and so does a carry out of the fraction, up to Infinity.
  const bits = (BigInt(quantum + 149) << 23n) + kept;
  return negative && bits !== 0n ? SIGN_BIT | bits : bits;
}
