import { select } from "../../kernels/assembler/control.ts";
import type { Code } from "../../kernels/assembler/encoding.ts";
import { f32, f32x4, i32, v128 } from "../../kernels/assembler/instructions.ts";
import type { OpName } from "../../program/operations.ts";
import type { Value } from "./values.ts";

/** Code of an operation on float32: in WebAssembly these are IEEE 754's, rounded once. */
type FloatCode = (a: Code, b: Code) => Code;
type Lowering = { scalar: FloatCode; vector: FloatCode; negativeZero: (a: Value, b: Value) => boolean };

const never = (): boolean => false;
const always = (): boolean => true;
const ifBoth = (a: Value, b: Value): boolean => a.mayBeNegativeZero && b.mayBeNegativeZero;
const ifEither = (a: Value, b: Value): boolean => a.mayBeNegativeZero || b.mayBeNegativeZero;
const ifFirst = (a: Value): boolean => a.mayBeNegativeZero;

const ZERO = f32.const(0);
const ZEROS = v128.const(new Array<number>(16).fill(0));
const ONE = f32.const(1);
const ONES = f32x4.splat(ONE);
const INFINITE = f32.const(Infinity);

/**
 * What the instruction of the same name does, in both forms; the operands must be locals or constants: they may be used
 * twice.
 */
const sameName = (
  name: "add" | "sub" | "mul" | "div" | "min" | "max" | "abs" | "sqrt" | "floor" | "ceil",
  negativeZero: Lowering["negativeZero"],
): Lowering => {
  const unary = name === "abs" || name === "sqrt" || name === "floor" || name === "ceil";
  const code = (make: (...operands: Code[]) => Code): FloatCode => (unary ? (a) => make(a) : (a, b) => make(a, b));
  return { scalar: code(f32[name]), vector: code(f32x4[name]), negativeZero };
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
  round: { scalar: (a) => f32.nearest(a), vector: (a) => f32x4.nearest(a), negativeZero: always },
  neg: { scalar: (a) => f32.sub(ZERO, a), vector: (a) => f32x4.sub(ZEROS, a), negativeZero: never },
  sign: {
    scalar: (a) => select(f32.convertI32S(i32.sub(f32.gt(a, ZERO), f32.lt(a, ZERO))), a, f32.eq(a, a)),
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
export const FLOAT_CONDITION: Partial<Record<OpName, { scalar: FloatCode; vector: FloatCode }>> = {
  eq: { scalar: (a, b) => f32.eq(a, b), vector: (a, b) => f32x4.eq(a, b) },
  lt: { scalar: (a, b) => f32.lt(a, b), vector: (a, b) => f32x4.lt(a, b) },
  le: { scalar: (a, b) => f32.le(a, b), vector: (a, b) => f32x4.le(a, b) },
  isNaN: { scalar: (a) => f32.ne(a, a), vector: (a) => f32x4.ne(a, a) },
  isInf: {
    scalar: (a) => f32.eq(f32.abs(a), INFINITE),
    vector: (a) => f32x4.eq(f32x4.abs(a), f32x4.splat(INFINITE)),
  },
};

const NAN = f32.constBits(0x7fc00000);

/** The value with +0 for -0. */
export function withoutNegativeZero(value: Value): Value {
  if (!value.mayBeNegativeZero) return value;
  const code = value.isVector ? f32x4.add(value.code, ZEROS) : f32.add(value.code, ZERO);
  return { ...value, code, mayBeNegativeZero: false };
}

/** One NaN; the value's code is used twice. */
export function withOneNaN(value: Value): Value {
  if (!value.mayBeOtherNaN) return value;
  const { code, isVector } = value;
  const made = isVector
    ? v128.bitselect(code, f32x4.splat(NAN), f32x4.eq(code, code))
    : select(code, NAN, f32.eq(code, code));
  return { ...value, code: made, mayBeOtherNaN: false };
}
