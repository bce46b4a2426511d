import { arithmeticOf, convert } from "../numerics/arithmetic.ts";
import { cast } from "../numerics/cast.ts";
import { DType, isFloat, type DType as DTypeCode, type Word } from "../numerics/dtype.ts";
import { acos } from "../numerics/elementary/acos.ts";
import { acosh } from "../numerics/elementary/acosh.ts";
import { asin } from "../numerics/elementary/asin.ts";
import { asinh } from "../numerics/elementary/asinh.ts";
import { atan } from "../numerics/elementary/atan.ts";
import { atanh } from "../numerics/elementary/atanh.ts";
import { cos } from "../numerics/elementary/cos.ts";
import { cosh } from "../numerics/elementary/cosh.ts";
import { erf } from "../numerics/elementary/erf.ts";
import { exp } from "../numerics/elementary/exp.ts";
import { expm1 } from "../numerics/elementary/expm1.ts";
import { log } from "../numerics/elementary/log.ts";
import { log1p } from "../numerics/elementary/log1p.ts";
import { pow } from "../numerics/elementary/pow.ts";
import { sigmoid } from "../numerics/elementary/sigmoid.ts";
import { sin } from "../numerics/elementary/sin.ts";
import { sinh } from "../numerics/elementary/sinh.ts";
import { tan } from "../numerics/elementary/tan.ts";
import { tanh } from "../numerics/elementary/tanh.ts";
import * as arc64 from "../numerics/elementary64/arc.ts";
import { erf as erf64 } from "../numerics/elementary64/erf.ts";
import * as exponential64 from "../numerics/elementary64/exponential.ts";
import * as logarithm64 from "../numerics/elementary64/logarithm.ts";
import { pow as pow64 } from "../numerics/elementary64/pow.ts";
import * as trigonometric64 from "../numerics/elementary64/trigonometric.ts";
import type { FloatArithmetic } from "../numerics/float.ts";
import * as integer from "../numerics/integer.ts";
import { Op, signature, type OpName } from "./operations.ts";
import type { Instruction } from "./types.ts";

type FloatOp = (float: FloatArithmetic, a: Word, b: Word) => Word;
type Elementary = (a: Word, float: FloatArithmetic) => Word;
type IntegerOp = (a: Word, b: Word, dtype: DTypeCode) => Word;

const bool = (condition: boolean): Word => (condition ? 1n : 0n);

const FLOAT: Partial<Record<OpName, FloatOp>> = {
  add: (float, a, b) => float.add(a, b),
  sub: (float, a, b) => float.sub(a, b),
  mul: (float, a, b) => float.mul(a, b),
  div: (float, a, b) => float.div(a, b),
  fmod: (float, a, b) => float.fmod(a, b),
  min: (float, a, b) => float.min(a, b),
  max: (float, a, b) => float.max(a, b),
  neg: (float, a) => float.neg(a),
  abs: (float, a) => float.abs(a),
  sign: (float, a) => float.sign(a),
  eq: (float, a, b) => float.eq(a, b),
  lt: (float, a, b) => float.lt(a, b),
  le: (float, a, b) => float.le(a, b),
  sqrt: (float, a) => float.sqrt(a),
  floor: (float, a) => float.floor(a),
  ceil: (float, a) => float.ceil(a),
  round: (float, a) => float.round(a),
  isNaN: (float, a) => bool(float.isNaN(a)),
  isInf: (float, a) => bool(float.isInfinite(a)),
};

/** Functions on float32 words with a result rounded once, to float32 or a subset type. */
const ELEMENTARY: Partial<Record<OpName, Elementary>> = {
  ...{ exp, log, tanh, sigmoid, erf, expm1, log1p },
  ...{ sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh },
};

/** The same functions of float64 words. */
const ELEMENTARY64: Partial<Record<OpName, (a: Word, b: Word) => Word>> = {
  ...{ ...exponential64, ...logarithm64, ...trigonometric64, ...arc64 },
  ...{ erf: erf64, pow: pow64 },
};

const INTEGER: Partial<Record<OpName, IntegerOp>> = {
  add: integer.add,
  sub: integer.sub,
  mul: integer.mul,
  div: integer.div,
  mod: integer.mod,
  fmod: integer.fmod,
  min: integer.min,
  max: integer.max,
  neg: (a, _, dtype) => integer.neg(a, dtype),
  abs: (a, _, dtype) => integer.abs(a, dtype),
  sign: (a, _, dtype) => integer.sign(a, dtype),
  eq: integer.eq,
  lt: integer.lt,
  le: integer.le,
  and: integer.and,
  or: integer.or,
  xor: integer.xor,
  not: (a, _, dtype) => integer.not(a, dtype),
  shl: integer.shl,
  shr: integer.shr,
};

/** Applies one operation to words; `b` and `c` are ignored where the operation takes fewer. */
export function applyOperation(op: Op, dtype: DTypeCode, a: Word, b: Word, c: Word): Word {
  if (op === Op.select) return a === 0n ? c : b;
  const name = signature(op)!.name;
  if (isFloat(dtype)) return FLOAT[name]?.(arithmeticOf(dtype), a, b) ?? elementary(name, dtype, a, b);
  return INTEGER[name]!(a, b, dtype);
}

/**
 * Computes an elementary function. 16-bit operands are widened exactly, and the result is rounded once to the 16-bit
 * type.
 */
function elementary(name: OpName, dtype: DTypeCode, a: Word, b: Word): Word {
  if (dtype === DType.float64) return ELEMENTARY64[name]!(a, b);
  const float = arithmeticOf(dtype);
  const x = convert(a, dtype, DType.float32);
  const result = name === "pow" ? pow(x, convert(b, dtype, DType.float32), float) : ELEMENTARY[name]!(x, float);
  return convert(result, DType.float32, dtype);
}

/** Runs straight-line code: appends one word an instruction to `slots`. */
export function runCode(code: readonly Instruction[], slots: Word[], digits: readonly number[]): void {
  for (const { op, dtype, a, b, c } of code) {
    if (op === Op.digit) slots.push(BigInt(digits[a]!));
    else if (op === Op.cast) slots.push(cast(slots[a]!, dtype, b as DTypeCode));
    else slots.push(applyOperation(op, dtype, slots[a]!, slots[b] ?? 0n, slots[c] ?? 0n));
  }
}
