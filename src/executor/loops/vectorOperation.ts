import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { f32, f32x4, i32, i32x4, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, dtypeBytes, isFloat, isSigned, type DType as DTypeCode } from "../../numerics/dtype.ts";
import type { OpName } from "../../program/operations.ts";
import { isWide } from "./values.ts";

const constant = (value: number): Code => i32x4.splat(i32.const(value));

/** Lanes modulo 2^bits in the range of their type. */
export function wrappedLanes(dtype: DTypeCode, code: Code): Code {
  const unused = i32.const(32 - 8 * dtypeBytes(dtype));
  if (dtypeBytes(dtype) === 4) return code;
  return isSigned(dtype)
    ? i32x4.shrS(i32x4.shl(code, unused), unused)
    : v128.and(code, constant(2 ** (8 * dtypeBytes(dtype)) - 1));
}

const SCALAR_ONLY: ReadonlySet<OpName> = new Set<OpName>(["div", "mod", "fmod"]);

/** Operations whose lanes have their second operand in common: a scalar. */
export const isShift = (name: OpName): boolean => name === "shl" || name === "shr";

/** Shifts integer lanes of at most 32 bits by a common count. A count reaching the number of bits gives 0. */
export function shiftedLanes(name: OpName, dtype: DTypeCode, a: Code, count: Code): Code {
  const shift = name === "shl" ? i32x4.shl : isSigned(dtype) ? i32x4.shrS : i32x4.shrU;
  const inRange = i32.ltU(count, i32.const(8 * dtypeBytes(dtype)));
  const mask = i32x4.splat(i32.sub(i32.const(0), inRange));
  return v128.and(wrappedLanes(dtype, shift(a, count)), mask);
}

/** Whether an operation on integers or bools of at most 32 bits has a vector form. */
export const hasIntegerLanes = (name: OpName): boolean => !SCALAR_ONLY.has(name);

/** Computes one operation on integer lanes or bool lanes (masks). The operands' code appears more than once. */
export function integerLanes(name: OpName, dtype: DTypeCode, a: Code, b: Code): Code {
  const wrap = (code: Code): Code => wrappedLanes(dtype, code);
  const unsigned = dtype === DType.uint32;
  switch (name) {
    case "add":
      return wrap(i32x4.add(a, b));
    case "sub":
      return wrap(i32x4.sub(a, b));
    case "mul":
      return wrap(i32x4.mul(a, b));
    case "min":
      return (unsigned ? i32x4.minU : i32x4.minS)(a, b);
    case "max":
      return (unsigned ? i32x4.maxU : i32x4.maxS)(a, b);
    case "neg":
      return wrap(i32x4.neg(a));
    case "abs":
      return isSigned(dtype) ? wrap(i32x4.abs(a)) : a;
    case "sign":
      // Comparisons give -1 for true.
      if (!isSigned(dtype)) return v128.and(i32x4.ne(a, constant(0)), constant(1));
      return i32x4.sub(i32x4.ltS(a, constant(0)), i32x4.gtS(a, constant(0)));
    case "eq":
      return i32x4.eq(a, b);
    case "lt":
      return (unsigned ? i32x4.ltU : i32x4.ltS)(a, b);
    case "le":
      return (unsigned ? i32x4.leU : i32x4.leS)(a, b);
    case "and":
      return v128.and(a, b);
    case "or":
      return v128.or(a, b);
    case "xor":
      return v128.xor(a, b);
    case "not":
      return dtype === DType.bool ? v128.not(a) : wrap(v128.not(a));
    default:
      throw new RangeError(`${name} has no vector form`);
  }
}

/** Whether a conversion has a vector form. */
export const hasCastLanes = (from: DTypeCode, to: DTypeCode): boolean => !isWide(from) && !isWide(to);

/** A conversion of lanes; the code is used more than once. */
export function castLanes(from: DTypeCode, to: DTypeCode, a: Code): Code {
  if (from === to) return a;
  if (to === DType.bool) return isFloat(from) ? f32x4.ne(a, f32x4.splat(f32.const(0))) : i32x4.ne(a, constant(0));
  if (isFloat(from)) return saturatedLanes(to, a);
  const value = from === DType.bool ? v128.and(a, constant(1)) : a;
  if (isFloat(to)) return (from === DType.uint32 ? f32x4.convertI32U : f32x4.convertI32S)(value);
  return from === DType.bool ? value : wrappedLanes(to, value);
}

function saturatedLanes(to: DTypeCode, a: Code): Code {
  if (to === DType.uint32) return i32x4.truncSatF32U(a);
  const whole = i32x4.truncSatF32S(a);
  if (to === DType.int32) return whole;
  const bits = 8 * dtypeBytes(to);
  const [low, high] = isSigned(to) ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return i32x4.minS(i32x4.maxS(whole, constant(low)), constant(high));
}
