/**
 * A binary floating-point format of IEEE 754: sign, exponent field, fraction. Finite values are integer multiples of
 * `2^lowestExponent`, subnormals included.
 */
export type FloatFormat = {
  readonly bits: number;
  /** Fraction bits; a normal number's significand has one more. */
  readonly fractionBits: number;
  /** The exponent of the smallest subnormal. */
  readonly lowestExponent: number;
  /** The exponent of the largest finite number's leading bit. */
  readonly highestExponent: number;
  /** The sign bit alone, and +Infinity. */
  readonly sign: bigint;
  readonly infinity: bigint;
  /** The one NaN: quiet, positive, without a payload. */
  readonly nan: bigint;
};

function format(exponentBits: number, fractionBits: number): FloatFormat {
  const highestExponent = 2 ** (exponentBits - 1) - 1;
  const infinity = ((1n << BigInt(exponentBits)) - 1n) << BigInt(fractionBits);
  return {
    bits: 1 + exponentBits + fractionBits,
    fractionBits,
    lowestExponent: 1 - highestExponent - fractionBits,
    highestExponent,
    sign: 1n << BigInt(exponentBits + fractionBits),
    infinity,
    nan: infinity | (1n << BigInt(fractionBits - 1)),
  };
}

export const FLOAT16 = format(5, 10);
export const BFLOAT16 = format(8, 7);
export const FLOAT32 = format(8, 23);
export const FLOAT64 = format(11, 52);
