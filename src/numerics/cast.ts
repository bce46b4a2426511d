import { arithmeticOf, convert } from "./arithmetic.ts";
import { DType, dtypeBytes, floatFormat, isFloat, isSigned, type Word } from "./dtype.ts";
import { wrap } from "./integer.ts";
import { roundToFormat } from "./round.ts";

/**
 * Converts a word between element types. Float to float and integer to float: rounded once. Float to integer: NaN is 0,
 * the rest truncates towards zero and saturates. Anything to bool: nonzero (NaN is true). Integer to integer: modulo
 * 2^bits.
 */
export function cast(a: Word, from: DType, to: DType): Word {
  if (isFloat(from)) return isFloat(to) ? convert(a, from, to) : fromFloat(a, from, to);
  const value = wrap(a, from);
  if (isFloat(to)) return roundToFormat(floatFormat(to), value < 0n, value < 0n ? -value : value, 0);
  return wrap(value, to);
}

function fromFloat(word: Word, from: DType, to: DType): Word {
  const { canonical, isNaN, isInfinite, decode } = arithmeticOf(from);
  const a = canonical(word);
  if (to === DType.bool) return a === 0n ? 0n : 1n;
  if (isNaN(a)) return 0n;

  const bits = BigInt(8 * dtypeBytes(to));
  const lowest = isSigned(to) ? -(1n << (bits - 1n)) : 0n;
  const highest = isSigned(to) ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n;
  const { negative, mantissa, exponent } = decode(a);
  if (isInfinite(a)) return negative ? lowest : highest;
  const magnitude = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa >> BigInt(-exponent);
  const value = negative ? -magnitude : magnitude;
  return value < lowest ? lowest : value > highest ? highest : value;
}
