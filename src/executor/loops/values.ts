import type { Callable } from "../../numerics/kernels/assembler/moduleBuilder.ts";
import type { FunctionBuilder, Local } from "../../numerics/kernels/assembler/functionBuilder.ts";
import type { ValueType } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { i32, i32x4, f32, f32x4, f64 } from "../../numerics/kernels/assembler/instructions.ts";
import type { OpName } from "../../program/operations.ts";
import { DType, isFloat, type DType as DTypeCode } from "../../numerics/dtype.ts";

/** Elements that a vector value holds: 32 bits each; bools are masks there, all bits set for true. */
export const LANES = 4;

/** Code for one element, or for LANES elements consecutive in the vectorised digit. */
export type LoopValue = {
  code: Code;
  dtype: DTypeCode;
  /** The innermost loop level on whose digits the value depends; 0 for none. */
  level: number;
  isVector: boolean;
  /** For floats: true if the value may be -0, or a NaN other than the canonical NaN. */
  mayBeNegativeZero: boolean;
  mayBeOtherNaN: boolean;
  /** A constant that is no NaN. */
  isNumber?: boolean;
};

/** A value with nothing to make canonical. */
export const exact = (code: Code, dtype: DTypeCode, level: number, isVector = false): LoopValue => ({
  ...{ code, dtype, level, isVector },
  ...{ mayBeNegativeZero: false, mayBeOtherNaN: false },
});

/** Whether elements have 64 bits: no vectors of LANES hold them. */
export const isWide = (dtype: DTypeCode): boolean =>
  dtype === DType.int64 || dtype === DType.uint64 || dtype === DType.float64;

/** The instructions on scalars of a float type; floats of 16 bits are held as float32. */
export const floatScalar = (dtype: DTypeCode): typeof f32 | typeof f64 => (dtype === DType.float64 ? f64 : f32);

/** The WebAssembly type that holds an element: narrow integers in their value's i32, bools as 0 or 1. */
export function scalarType(dtype: DTypeCode): ValueType {
  if (dtype === DType.float64) return "f64";
  if (isFloat(dtype)) return "f32";
  return isWide(dtype) ? "i64" : "i32";
}

/** The functions that generated code calls. */
export type Imports = {
  /** An elementary function of vectors. */
  elementary: (name: OpName, arity: number) => Callable;
  /** An elementary function for 16-bit types, on float32 scalars: see halfHelpers.ts. */
  half: (name: string, arity: number) => Callable;
  /** An elementary function of float64 scalars. */
  elementary64: (name: OpName, arity: number) => Callable;
  /** C's fmod for two float32 or two float64 operands. */
  fmod: (type: "f32" | "f64") => Callable;
};

/** The function that code is generated for. Its statements are collected by their loop level. */
export type Emitter = {
  fn: FunctionBuilder;
  /** Statements of each level, level 0 first. */
  levels: readonly Code[][];
} & Imports;

/** Keeps a value in a local variable, computed at its level. */
export function define(emitter: Emitter, value: LoopValue): LoopValue {
  const type = value.isVector ? "v128" : scalarType(value.dtype);
  return { ...value, code: store(emitter, type, value.code, value.level).get };
}

/** Creates a local variable and sets it at a loop level. */
export function store({ fn, levels }: Emitter, type: ValueType, code: Code, level: number): Local {
  const local = fn.local(type);
  levels[level]!.push(local.set(code));
  return local;
}

/** A scalar in all lanes, at its own level. */
export function splat(emitter: Emitter, value: LoopValue): LoopValue {
  if (value.isVector) return value;
  const code = isFloat(value.dtype)
    ? f32x4.splat(value.code)
    : i32x4.splat(value.dtype === DType.bool ? i32.sub(i32.const(0), value.code) : value.code);
  return define(emitter, { ...value, code, isVector: true });
}
