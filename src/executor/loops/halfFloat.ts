import { select } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { f32, f32x4, i32, i32x4, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, type DType as DTypeCode } from "../../numerics/dtype.ts";
import { define, exact, store, type Emitter, type LoopValue } from "./values.ts";

/*
 * A slot of float16 or bfloat16 holds its value as a float32, which is exact. Tensors hold 16 bits, read and written as
 * uint16. Sums, differences, products, quotients and roots of such values are rounded to float32 and then to 16 bits,
 * which gives what one rounding gives: 24 >= 2*11 + 2 bits (Figueroa, "When is double rounding innocuous?", 1995), and
 * below the normal numbers of 16 bits float32 has more bits still.
 */

/** Instructions for the code below, for one lane or for LANES lanes. */
type Lanes = {
  bits: (value: Code) => Code;
  value: (bits: Code) => Code;
  int: Record<"add" | "and" | "or" | "shl" | "shrU", (a: Code, b: Code) => Code>;
  float: Record<"abs" | "add" | "sub" | "mul" | "lt" | "gt" | "eq", (...operands: Code[]) => Code>;
  word: (bits: number) => Code;
  number: (value: number) => Code;
  choose: (yes: Code, no: Code, condition: Code) => Code;
};

const SCALAR: Lanes = {
  bits: (value) => i32.reinterpretF32(value),
  value: (bits) => f32.reinterpretI32(bits),
  int: { ...i32, shl: (a, b) => i32.shl(a, b), shrU: (a, b) => i32.shrU(a, b) },
  float: f32,
  word: i32.const,
  number: f32.const,
  choose: (yes, no, condition) => select(yes, no, condition),
};

const VECTOR: Lanes = {
  bits: (value) => value,
  value: (bits) => bits,
  int: { add: i32x4.add, and: v128.and, or: v128.or, shl: i32x4.shl, shrU: i32x4.shrU },
  float: f32x4,
  word: (bits) => i32x4.splat(i32.const(bits)),
  number: (value) => f32x4.splat(f32.const(value)),
  choose: (yes, no, condition) => v128.bitselect(yes, no, condition),
};

const lanesOf = ({ isVector }: LoopValue): Lanes => (isVector ? VECTOR : SCALAR);
const by = (count: number): Code => i32.const(count);
const SIGN = 0x80000000;
const NAN_BITS = 0x7fc00000;

/** The factor for the difference between the exponent fields of float16 and float32. */
const REBIAS = 2 ** 112;

/** Decodes an element read as uint16, in canonical bits. */
export function decoded(emitter: Emitter, raw: LoopValue, dtype: DTypeCode): LoopValue {
  const { int, value, word, number, choose, float } = lanesOf(raw);
  const { code, level, isVector } = raw;
  if (dtype === DType.bfloat16) return define(emitter, exact(value(int.shl(code, by(16))), dtype, level, isVector));
  // Fraction and exponent where float32 has them: subnormals become subnormals, and the product scales both exactly.
  const magnitude = defineBits(emitter, raw, int.shl(int.and(code, word(0x7fff)), by(13)));
  const finite = float.mul(value(magnitude), number(REBIAS));
  const special = value(int.or(magnitude, word(0x7f800000)));
  const isFinite = isVector ? i32x4.ltS(magnitude, word(0x7c00 << 13)) : i32.ltS(magnitude, word(0x7c00 << 13));
  const unsigned = defineBits(emitter, raw, lanesOf(raw).bits(choose(finite, special, isFinite)));
  const sign = int.shl(int.and(code, word(0x8000)), by(16));
  return define(emitter, exact(value(int.or(unsigned, sign)), dtype, level, isVector));
}

/** The bits of a canonical value, as uint16. */
export function encoded(emitter: Emitter, half: LoopValue): LoopValue {
  const { int, bits, word, number, float } = lanesOf(half);
  const { code, level, isVector, dtype } = half;
  if (dtype === DType.bfloat16)
    return define(emitter, exact(int.shrU(bits(code), by(16)), DType.uint16, level, isVector));
  const scaled = defineBits(emitter, half, bits(float.mul(code, number(1 / REBIAS))));
  const magnitude = int.and(int.shrU(scaled, by(13)), word(0x7fff));
  const sign = int.and(int.shrU(scaled, by(16)), word(0x8000));
  return define(emitter, exact(int.or(magnitude, sign), DType.uint16, level, isVector));
}

/** A float32 rounded to 16 bits, half to even; one NaN. */
export function roundedToHalf(emitter: Emitter, float32: LoopValue, dtype: DTypeCode): LoopValue {
  const from = define(emitter, float32);
  const { int, bits, value, word, number, choose, float } = lanesOf(from);
  const drop = dtype === DType.bfloat16 ? 16 : 13;
  const own = defineBits(emitter, from, bits(from.code));
  const last = int.and(int.shrU(own, by(drop)), word(1));
  const up = int.add(int.add(own, word(2 ** (drop - 1) - 1)), last);
  const near = defineBits(emitter, from, int.and(up, word(-(2 ** drop))));
  const result = (code: Code): LoopValue => ({
    ...exact(
      choose(value(code), value(word(NAN_BITS)), float.eq(from.code, from.code)),
      dtype,
      from.level,
      from.isVector,
    ),
    mayBeNegativeZero: true,
  });
  if (dtype === DType.bfloat16) return define(emitter, result(near));

  const sign = defineBits(emitter, from, int.and(own, word(SIGN)));
  const infinite = int.or(sign, word(0x7f800000));
  // Up to 2^-14, float16 numbers are multiples of 2^-24, like float32 numbers from 0.5 to 1.
  const sum = float.sub(float.add(float.abs(from.code), number(0.5)), number(0.5));
  const small = int.or(bits(sum), sign);
  const isBeyond = float.gt(float.abs(value(near)), number(65504));
  const isSmall = float.lt(float.abs(from.code), number(2 ** -14));
  const large = defineBits(emitter, from, choose(infinite, near, isBeyond));
  return define(emitter, result(defineBits(emitter, from, choose(small, large, isSmall))));
}

/** Keeps bits in a local variable. */
const defineBits = (emitter: Emitter, { level, isVector }: LoopValue, code: Code): Code =>
  store(emitter, isVector ? "v128" : "i32", code, level).get;
