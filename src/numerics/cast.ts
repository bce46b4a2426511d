import { DType, dtypeBytes, isSigned, type Word } from "./dtype.ts";
import { canonical, decode, INFINITY_, isInfinite, isNaN, ZERO } from "./float32.ts";
import { wrap } from "./integer.ts";
import { roundToFloat32 } from "./round.ts";

/**
 * Converts a word between element types. Float to integer: NaN is 0, the rest truncates towards zero and saturates.
 * Anything to bool: nonzero (NaN is true). Integer to float: rounded once. Integer to integer: modulo 2^bits.
 */
export function cast(a: Word, from: DType, to: DType): Word {
  if (from === DType.float32) return castFloat(canonical(a), to);
  const value = wrap(a, from);
  if (to === DType.float32) return roundToFloat32(value < 0n, value < 0n ? -value : value, 0);
  return wrap(value, to);
}

function castFloat(a: Word, to: DType): Word {
  if (to === DType.float32) return a;
  if (to === DType.bool) return a === ZERO ? 0n : 1n;
  if (isNaN(a)) return 0n;

  const bits = BigInt(8 * dtypeBytes(to));
  const lowest = isSigned(to) ? -(1n << (bits - 1n)) : 0n;
  const highest = isSigned(to) ? (1n << (bits - 1n)) - 1n : (1n << bits) - 1n;
  if (isInfinite(a)) return a === INFINITY_ ? highest : lowest;
  const { negative, mantissa, exponent } = decode(a);
  const magnitude = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa >> BigInt(-exponent);
  const value = negative ? -magnitude : magnitude;
  return value < lowest ? lowest : value > highest ? highest : value;
}
