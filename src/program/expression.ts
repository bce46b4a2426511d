import { cast } from "../numerics/cast.ts";
import { isFloat, type DType as DTypeCode, type Word } from "../numerics/dtype.ts";
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
import * as float32 from "../numerics/float32.ts";
import * as integer from "../numerics/integer.ts";
import { Op, signature, type OpName } from "./operations.ts";
import type { Instruction } from "./types.ts";

type FloatOp = (a: Word, b: Word) => Word;
type IntegerOp = (a: Word, b: Word, dtype: DTypeCode) => Word;

const bool = (condition: boolean): Word => (condition ? 1n : 0n);

const FLOAT: Partial<Record<OpName, FloatOp>> = {
  add: float32.add,
  sub: float32.sub,
  mul: float32.mul,
  div: float32.div,
  fmod: float32.fmod,
  min: float32.min,
  max: float32.max,
  pow,
  neg: float32.neg,
  abs: float32.abs,
  sign: float32.sign,
  eq: float32.eq,
  lt: float32.lt,
  le: float32.le,
  sqrt: float32.sqrt,
  floor: float32.floor,
  ceil: float32.ceil,
  round: float32.round,
  isNaN: (a) => bool(float32.isNaN(a)),
  isInf: (a) => bool(float32.isInfinite(a)),
  exp,
  log,
  tanh,
  sigmoid,
  erf,
  expm1,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
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
  if (isFloat(dtype)) return FLOAT[name]!(a, b);
  return INTEGER[name]!(a, b, dtype);
}

/** Runs straight-line code: appends one word an instruction to `slots`. */
export function runCode(code: readonly Instruction[], slots: Word[], digits: readonly number[]): void {
  for (const { op, dtype, a, b, c } of code) {
    if (op === Op.digit) slots.push(BigInt(digits[a]!));
    else if (op === Op.cast) slots.push(cast(slots[a]!, dtype, b as DTypeCode));
    else slots.push(applyOperation(op, dtype, slots[a]!, slots[b] ?? 0n, slots[c] ?? 0n));
  }
}
