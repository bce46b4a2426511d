import type { Word } from "./dtype.ts";
import { FLOAT32, type FloatFormat } from "./format.ts";

/** Number of significant bits of a nonnegative integer; 0 for 0. */
export function bitLength(value: bigint): number {
  if (value === 0n) return 0;
  const hex = value.toString(16);
  return 4 * hex.length - Math.clz32(parseInt(hex[0]!, 16)) + 28;
}

/**
 * Rounds `(-1)^negative * mantissa * 2^exponent` to a format: half to even, once, subnormals kept, overflow to
 * Infinity, +0 for every result that is zero.
 *
 * @param mantissa a nonnegative integer of any length.
 * @param sticky the magnitude is larger than that by something nonzero and below `2^exponent`. Then `mantissa` must
 * reach the bit below the result's last one: for float32, `mantissa >= 2^24` or `exponent <= -150`.
 */
export function roundToFormat(
  format: FloatFormat,
  negative: boolean,
  mantissa: bigint,
  exponent: number,
  sticky = false,
): Word {
  if (mantissa === 0n) return 0n;
  const { fractionBits, lowestExponent, highestExponent, sign, infinity } = format;
  const top = exponent + bitLength(mantissa) - 1; // 2^top <= magnitude < 2^(top+1)
  if (top > highestExponent) return negative ? sign | infinity : infinity;
  if (top < lowestExponent - 1) return 0n;

  // The result is an integer multiple of 2^quantum: with all significand bits, or fewer for subnormals.
  const quantum = Math.max(top - fractionBits, lowestExponent);
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

  // A normal number's leading bit adds 1 to the exponent field, and so does a carry out of the fraction, up to
  // Infinity.
  const bits = (BigInt(quantum - lowestExponent) << BigInt(fractionBits)) + kept;
  return negative && bits !== 0n ? sign | bits : bits;
}

/** {@link roundToFormat} of float32. */
export const roundToFloat32 = (negative: boolean, mantissa: bigint, exponent: number, sticky = false): Word =>
  roundToFormat(FLOAT32, negative, mantissa, exponent, sticky);
