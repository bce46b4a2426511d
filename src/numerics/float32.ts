import type { Word } from "./dtype.ts";
import { floatArithmetic } from "./float.ts";
import { FLOAT32 } from "./format.ts";

/**
 * float32 primitives on words (the 32 bits as a bigint): the exact real result, rounded once. Every function is total,
 * takes -0 for +0 and any NaN for {@link NAN}, and returns neither -0 nor another NaN. Comparisons return 0n or 1n.
 */

export const ZERO: Word = 0n;
export const ONE: Word = 0x3f800000n;
export const NEG_ONE: Word = 0xbf800000n;
export const INFINITY_: Word = 0x7f800000n;
export const NEG_INFINITY: Word = 0xff800000n;
export const NAN: Word = 0x7fc00000n;

export const FLOAT32_ARITHMETIC = floatArithmetic(FLOAT32);

export const { canonical, isNaN, isInfinite, decode, add, sub, mul, div, fmod, sqrt, neg, abs, sign } =
  FLOAT32_ARITHMETIC;
export const { min, max, floor, ceil, round, eq, lt, le } = FLOAT32_ARITHMETIC;

const buffer = new DataView(new ArrayBuffer(4));

/** Returns the word of a JavaScript number with a float32 value (any other number is rounded to nearest even). */
export function fromNumber(value: number): Word {
  buffer.setFloat32(0, value);
  return canonical(BigInt(buffer.getUint32(0)));
}

/** Returns a word's value as a JavaScript number. */
export function toNumber(a: Word): number {
  buffer.setUint32(0, Number(canonical(a)));
  return buffer.getFloat32(0);
}
