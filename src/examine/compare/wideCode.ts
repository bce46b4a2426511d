import { cast } from "../../numerics/cast.ts";
import { DType, isFloat, type DType as DTypeCode, type Word } from "../../numerics/dtype.ts";
import { numberWord, wordNumber } from "../../numerics/numbers.ts";
import { applyOperation } from "../../program/expression.ts";
import { Op, signature, type OpName } from "../../program/operations.ts";
import type { Instruction } from "../../program/types.ts";

/** A float as a number; an integer or a truth value as a word. */
export type WideValue = number | bigint;

/** A constant of a type as a value. */
export const wideConstant = (word: Word, dtype: DTypeCode): WideValue =>
  isFloat(dtype) ? wordNumber(word, dtype) : dtype === DType.limb ? Number(word) : word;

const bool = (holds: boolean): bigint => (holds ? 1n : 0n);

/** Rounds to the nearest whole number; ties go to the even number. */
const toEven = (x: number): number => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/**
 * From this argument on, the error function's remainder is computed by Lentz's continued fraction, because the series
 * would cancel.
 */
const TAIL = 2.5;

/** The error function, to a few units of the last place. */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (Number.isNaN(x)) return NaN;
  if (a > 6) return Math.sign(x);
  if (a < TAIL) {
    let [term, sum] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = a;
  for (let n = 60; n >= 1; n--) fraction = a + n / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-a * a) / (fraction * Math.sqrt(Math.PI)));
}

const FUNCTIONS: Partial<Record<OpName, (a: number, b: number) => WideValue>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  fmod: (a, b) => a % b,
  min: Math.min,
  max: Math.max,
  pow: Math.pow,
  neg: (a) => -a,
  abs: Math.abs,
  sign: Math.sign,
  eq: (a, b) => bool(a === b),
  lt: (a, b) => bool(a < b),
  le: (a, b) => bool(a <= b),
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
  round: toEven,
  isNaN: (a) => bool(Number.isNaN(a)),
  isInf: (a) => bool(Math.abs(a) === Infinity),
  exp: Math.exp,
  log: Math.log,
  tanh: Math.tanh,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  erf,
  expm1: Math.expm1,
  log1p: Math.log1p,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
};

function castWide(value: WideValue, from: DTypeCode, to: DTypeCode): WideValue {
  if (typeof value === "number") return isFloat(to) ? value : cast(numberWord(value, DType.float64), DType.float64, to);
  return isFloat(to) ? wordNumber(cast(value, from, DType.float64), DType.float64) : cast(value, from, to);
}

/** Runs a step's code on values: one more for each instruction. Floats are float64 and rounded to no other type. */
export function runWide(code: readonly Instruction[], slots: WideValue[], digits: readonly number[]): void {
  for (const { op, dtype, a, b, c } of code) {
    if (op === Op.digit) slots.push(BigInt(digits[a]!));
    else if (op === Op.cast) slots.push(castWide(slots[a]!, dtype, b as DTypeCode));
    else if (op === Op.select) slots.push(slots[a] === 0n ? slots[c]! : slots[b]!);
    else if (isFloat(dtype)) slots.push(FUNCTIONS[signature(op)!.name]!(slots[a] as number, slots[b] as number));
    else
      slots.push(applyOperation(op, dtype, slots[a] as bigint, (slots[b] ?? 0n) as bigint, (slots[c] ?? 0n) as bigint));
  }
}
