import { dtypeBytes, DType, isSigned, type Word } from "./dtype.ts";

/**
 * Integer primitives on words with one type, modulo 2^bits, and total: every operand is read through {@link wrap}, no
 * division fails. Comparisons return 0n or 1n. bool counts as an integer with value 0 or 1.
 */

const bits = (dtype: DType): number => 8 * dtypeBytes(dtype);

/** `value` modulo 2^bits into the range of the type; for bool, whether it is nonzero. */
export function wrap(value: bigint, dtype: DType): Word {
  if (dtype === DType.bool) return value === 0n ? 0n : 1n;
  return isSigned(dtype) ? BigInt.asIntN(bits(dtype), value) : BigInt.asUintN(bits(dtype), value);
}

type Unary = (a: Word, dtype: DType) => Word;
type Binary = (a: Word, b: Word, dtype: DType) => Word;

const unary =
  (operation: (a: bigint) => bigint): Unary =>
  (a, dtype) =>
    wrap(operation(wrap(a, dtype)), dtype);

const binary =
  (operation: (a: bigint, b: bigint) => bigint): Binary =>
  (a, b, dtype) =>
    wrap(operation(wrap(a, dtype), wrap(b, dtype)), dtype);

const comparison =
  (holds: (a: bigint, b: bigint) => boolean): Binary =>
  (a, b, dtype) =>
    holds(wrap(a, dtype), wrap(b, dtype)) ? 1n : 0n;

export const add: Binary = binary((a, b) => a + b);
export const sub: Binary = binary((a, b) => a - b);
export const mul: Binary = binary((a, b) => a * b);
/** Quotient truncated towards zero; x/0 = 0; min/-1 = min. */
export const div: Binary = binary((a, b) => (b === 0n ? 0n : a / b));
/** Remainder with the sign of the divisor; x mod 0 = 0. */
export const mod: Binary = binary((a, b) => (b === 0n ? 0n : ((a % b) + b) % b));
/** Remainder with the sign of the dividend; x mod 0 = 0. */
export const fmod: Binary = binary((a, b) => (b === 0n ? 0n : a % b));

export const neg: Unary = unary((a) => -a);
/** Absolute value; that of the smallest signed value is itself. */
export const abs: Unary = unary((a) => (a < 0n ? -a : a));
/** -1, 0 or 1. */
export const sign: Unary = unary((a) => (a > 0n ? 1n : a < 0n ? -1n : 0n));
export const min: Binary = binary((a, b) => (a < b ? a : b));
export const max: Binary = binary((a, b) => (a < b ? b : a));

export const eq: Binary = comparison((a, b) => a === b);
export const lt: Binary = comparison((a, b) => a < b);
export const le: Binary = comparison((a, b) => a <= b);

export const and: Binary = binary((a, b) => a & b);
export const or: Binary = binary((a, b) => a | b);
export const xor: Binary = binary((a, b) => a ^ b);
/** Every bit flipped; for bool, the other truth value. */
export const not: Unary = (a, dtype) => (dtype === DType.bool ? 1n - wrap(a, dtype) : wrap(~a, dtype));

/** A shift count outside 0 .. bits-1 (a negative one too) makes the result 0. */
const shift =
  (operation: (a: bigint, count: bigint) => bigint): Binary =>
  (a, count, dtype) => {
    const places = wrap(count, dtype);
    return places < 0n || places >= BigInt(bits(dtype)) ? 0n : wrap(operation(wrap(a, dtype), places), dtype);
  };

export const shl: Binary = shift((a, count) => a << count);
/** Logical for unsigned types; arithmetic (towards minus infinity) for signed ones, 0 as well from `bits` places on. */
export const shr: Binary = shift((a, count) => a >> count);
