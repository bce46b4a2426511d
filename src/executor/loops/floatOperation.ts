import { select } from "../../numerics/kernels/assembler/control.ts";
import type { Code } from "../../numerics/kernels/assembler/encoding.ts";
import { f32, f32x4, i32, v128 } from "../../numerics/kernels/assembler/instructions.ts";
import { DType, floatFormat } from "../../numerics/dtype.ts";
import type { OpName } from "../../program/operations.ts";
import { literal } from "./literal.ts";
import { floatScalar, type LoopValue } from "./values.ts";

/** Code of an operation on floats: in WebAssembly these are IEEE 754's, rounded once. */
type FloatCode = (a: Code, b: Code) => Code;

/** The same on scalars, float32 or float64, given their instructions. */
type ScalarCode = (a: Code, b: Code, f: ReturnType<typeof floatScalar>) => Code;
type Lowering = { scalar: ScalarCode; vector: FloatCode; negativeZero: (a: LoopValue, b: LoopValue) => boolean };

const never = (): boolean => false;
const always = (): boolean => true;
const ifBoth = (a: LoopValue, b: LoopValue): boolean => a.mayBeNegativeZero && b.mayBeNegativeZero;
const ifEither = (a: LoopValue, b: LoopValue): boolean => a.mayBeNegativeZero || b.mayBeNegativeZero;
const ifFirst = (a: LoopValue): boolean => a.mayBeNegativeZero;

const ZEROS = v128.const(new Array<number>(16).fill(0));
const ONES = f32x4.splat(f32.const(1));

/**
 * Uses the instruction of the same name, in scalar and vector form. The operands may be used twice, so they must be
 * locals or constants.
 */
const sameName = (
  name: "add" | "sub" | "mul" | "div" | "min" | "max" | "abs" | "sqrt" | "floor" | "ceil",
  negativeZero: Lowering["negativeZero"],
): Lowering => {
  const unary = name === "abs" || name === "sqrt" || name === "floor" || name === "ceil";
  return {
    scalar: (a, b, f) => (unary ? f[name](a) : f[name](a, b)),
    vector: (a, b) => (unary ? f32x4[name](a) : f32x4[name](a, b)),
    negativeZero,
  };
};

/** Operations that have instructions; the others are functions. */
export const FLOAT: Partial<Record<OpName, Lowering>> = {
  add: sameName("add", ifBoth),
  // Only -0 - 0 gives -0.
  sub: sameName("sub", ifFirst),
  mul: sameName("mul", always),
  div: sameName("div", always),
  min: sameName("min", ifEither),
  max: sameName("max", ifEither),
  abs: sameName("abs", never),
  sqrt: sameName("sqrt", ifFirst),
  floor: sameName("floor", ifFirst),
  ceil: sameName("ceil", always),
  round: { scalar: (a, _, f) => f.nearest(a), vector: (a) => f32x4.nearest(a), negativeZero: always },
  neg: { scalar: (a, _, f) => f.sub(f.const(0), a), vector: (a) => f32x4.sub(ZEROS, a), negativeZero: never },
  sign: {
    scalar: (a, _, f) => select(f.convertI32S(i32.sub(f.gt(a, f.const(0)), f.lt(a, f.const(0)))), a, f.eq(a, a)),
    vector: (a) =>
      v128.bitselect(
        f32x4.sub(v128.and(f32x4.gt(a, ZEROS), ONES), v128.and(f32x4.lt(a, ZEROS), ONES)),
        a,
        f32x4.eq(a, a),
      ),
    negativeZero: never,
  },
};

/** Conditions on floats: 0 or 1, and masks. */
export const FLOAT_CONDITION: Partial<Record<OpName, { scalar: ScalarCode; vector: FloatCode }>> = {
  eq: { scalar: (a, b, f) => f.eq(a, b), vector: (a, b) => f32x4.eq(a, b) },
  lt: { scalar: (a, b, f) => f.lt(a, b), vector: (a, b) => f32x4.lt(a, b) },
  le: { scalar: (a, b, f) => f.le(a, b), vector: (a, b) => f32x4.le(a, b) },
  isNaN: { scalar: (a, _, f) => f.ne(a, a), vector: (a) => f32x4.ne(a, a) },
  isInf: {
    scalar: (a, _, f) => f.eq(f.abs(a), f.const(Infinity)),
    vector: (a) => f32x4.eq(f32x4.abs(a), f32x4.splat(f32.const(Infinity))),
  },
};

/** The one NaN of a type; float32's also of those of 16 bits. */
const nanOf = (dtype: DType): Code =>
  dtype === DType.float64 ? literal(floatFormat(dtype).nan, dtype) : f32.constBits(0x7fc00000);

/** The value with +0 for -0. */
export function withoutNegativeZero(value: LoopValue): LoopValue {
  if (!value.mayBeNegativeZero) return value;
  const scalar = floatScalar(value.dtype);
  const code = value.isVector ? f32x4.add(value.code, ZEROS) : scalar.add(value.code, scalar.const(0));
  return { ...value, code, mayBeNegativeZero: false };
}

/** One NaN; the value's code is used twice. */
export function withOneNaN(value: LoopValue): LoopValue {
  if (!value.mayBeOtherNaN) return value;
  const { code, isVector, dtype } = value;
  const nan = nanOf(dtype);
  const made = isVector
    ? v128.bitselect(code, f32x4.splat(nan), f32x4.eq(code, code))
    : select(code, nan, floatScalar(dtype).eq(code, code));
  return { ...value, code: made, mayBeOtherNaN: false };
}
