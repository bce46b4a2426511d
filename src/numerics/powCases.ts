import type { Word } from "./dtype.ts";
import type { Decoded, FloatArithmetic } from "./float.ts";
import type { FloatFormat } from "./format.ts";

/** The remaining case of a power: finite numbers other than 0, with a negated result if `negative`. */
type Left = (negative: boolean, x: Word, yNegative: boolean, y: Word) => Word;

/**
 * x^y with C99 Annex F's special cases (read with one zero and one NaN): x^0 = 1^y = 1 even for NaN, (-1)^(+-Inf) = 1,
 * 0^y = Inf for y < 0, a negative x is allowed for integers y only.
 * @param float The arithmetic of x and y.
 * @param powPositive Returns x^y for the magnitudes of a finite x, not 0, and a finite y, not 0.
 */
export function powCases({ format, decode }: FloatArithmetic, x: Word, y: Word, powPositive: Left): Word {
  const { sign, infinity, nan } = format;
  const one = BigInt(format.highestExponent) << BigInt(format.fractionBits);
  const xMagnitude = x & (sign - 1n);
  const yMagnitude = y & (sign - 1n);
  if (yMagnitude === 0n || x === one) return one;
  if (xMagnitude > infinity || yMagnitude > infinity) return nan;
  const yNegative = y >= sign;
  if (yMagnitude === infinity) {
    if (xMagnitude === one) return one;
    return xMagnitude > one === yNegative ? 0n : infinity;
  }
  if (xMagnitude === 0n) return yNegative ? infinity : 0n;
  const parity = integerParity(format, decode(yMagnitude));
  const negative = x >= sign && parity === 1;
  if (xMagnitude === infinity) {
    if (yNegative) return 0n;
    return negative ? sign | infinity : infinity;
  }
  if (x >= sign && parity === undefined) return nan;
  return powPositive(negative, xMagnitude, yNegative, yMagnitude);
}

/** 0 for an even integer, 1 for an odd one, undefined for anything else, of a positive finite number. */
function integerParity({ fractionBits }: FloatFormat, { mantissa, exponent }: Decoded): 0 | 1 | undefined {
  if (exponent > 0) return 0;
  if (exponent < -fractionBits) return undefined;
  const belowOne = BigInt(-exponent);
  if ((mantissa & ((1n << belowOne) - 1n)) !== 0n) return undefined;
  return ((mantissa >> belowOne) & 1n) === 1n ? 1 : 0;
}
