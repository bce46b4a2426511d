import {
  ARITHMETIC,
  BITS,
  decides,
  FLOATS,
  FLOATS_OR_INTEGERS,
  INTEGERS,
  JUMPING,
  moves,
  SELECTION,
} from "../../model/decision/operatorClass.ts";
import * as read from "../../model/decision/readDecision.ts";
import { isFloat } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import * as bounded from "../bounded/rules.ts";
import { DISCRETE } from "../gradients/refusals.ts";
import * as arithmeticRules from "../gradients/rules/arithmetic.ts";
import { times } from "../gradients/rules/functions.ts";
import * as activations from "../operators/activations.ts";
import { bitCast } from "../operators/bitCast.ts";
import { binary, cast, castLike, unary, variadic, where } from "../operators/elementwise.ts";
import { ONNX, type Row } from "./row.ts";

/** Arithmetic of broadcast operands. */
const ELEMENTWISE = {
  ...ONNX,
  use: "fuse",
  decision: ARITHMETIC,
  halves: "own",
  bounded: bounded.elementwise,
} as const;

/** Elements of the operands, up to their signs. */
const CHOICE = {
  ...ONNX,
  since: 1,
  use: "fuse",
  decision: SELECTION,
  halves: "own",
  bounded: bounded.elementwise,
} as const;

/** Compares two operands by size or for equality. */
const COMPARISON = {
  ...ONNX,
  use: "fuse",
  decision: decides(read.comparison),
  halves: "own",
  bounded: bounded.elementwise,
  gradient: DISCRETE,
} as const;

/** Whether an element is a special number. */
const TEST = {
  ...ONNX,
  use: "fuse",
  decision: JUMPING,
  halves: "own",
  bounded: bounded.elementwise,
  gradient: DISCRETE,
} as const;

/** Truth values and bits. */
const LOGIC = {
  ...ONNX,
  use: "fuse",
  decision: INTEGERS,
  halves: "float32",
  bounded: bounded.elementwise,
  gradient: DISCRETE,
} as const;

/** Elements in another type. */
const CAST = { ...ONNX, use: "fuse", narrow: "aware", gradient: arithmeticRules.cast, computes: "cast" } as const;

/** Arithmetic, comparisons and logic of broadcast operands, and conversions. */
export const ARITHMETIC_ROWS: readonly Row[] = [
  { ...ELEMENTWISE, operator: "Add", since: 1, lower: binary(Op.add), gradient: arithmeticRules.add, computes: "add" },
  {
    ...ELEMENTWISE,
    operator: "Div",
    since: 1,
    lower: binary(Op.div),
    decision: { kind: "arithmetic", divides: true },
    gradient: arithmeticRules.div,
    computes: "div",
  },
  {
    ...ELEMENTWISE,
    operator: "Mean",
    since: 1,
    lower: activations.mean,
    decision: FLOATS,
    halves: "float32",
    gradient: arithmeticRules.mean,
    computes: "(add, from the left) / n",
  },
  {
    ...ELEMENTWISE,
    operator: "Mod",
    since: 10,
    lower: activations.mod,
    decision: JUMPING,
    gradient: { rule: arithmeticRules.mod, limits: "of floats" },
    computes: "mod, or fmod with `fmod` = 1",
  },
  { ...ELEMENTWISE, operator: "Mul", since: 1, lower: binary(Op.mul), gradient: arithmeticRules.mul, computes: "mul" },
  {
    ...ELEMENTWISE,
    operator: "Pow",
    since: 1,
    lower: activations.pow,
    decision: FLOATS_OR_INTEGERS,
    halves: ({ inputs: [base] }) => (base !== undefined && !isFloat(base.dtype) ? "float32" : "own"),
    gradient: arithmeticRules.pow,
    computes:
      "pow; a constant exponent 2 is x * x. Integers: by squaring, modulo 2^n, a negative exponent truncates " +
      "towards 0; a float32 exponent that is no integer: pow, truncated",
  },
  { ...ELEMENTWISE, operator: "Sub", since: 1, lower: binary(Op.sub), gradient: arithmeticRules.sub, computes: "sub" },
  {
    ...ELEMENTWISE,
    operator: "Sum",
    since: 1,
    lower: variadic(Op.add),
    halves: "float32",
    gradient: arithmeticRules.sum,
    computes: "add, from the left",
  },

  { ...CHOICE, operator: "Abs", lower: unary(Op.abs), gradient: times((b, x) => b.op("Sign", x)), computes: "abs" },
  {
    ...CHOICE,
    operator: "Max",
    lower: variadic(Op.max),
    gradient: arithmeticRules.extreme,
    computes: "max, from the left",
  },
  {
    ...CHOICE,
    operator: "Min",
    lower: variadic(Op.min),
    gradient: arithmeticRules.extreme,
    computes: "min, from the left",
  },
  { ...CHOICE, operator: "Neg", lower: unary(Op.neg), gradient: (b) => [b.neg(b.dy)], computes: "neg" },

  { ...COMPARISON, operator: "Equal", since: 1, lower: binary(Op.eq), computes: "eq" },
  { ...COMPARISON, operator: "Greater", since: 1, lower: binary(Op.lt, true), computes: "lt, operands swapped" },
  {
    ...COMPARISON,
    operator: "GreaterOrEqual",
    since: 12,
    lower: binary(Op.le, true),
    computes: "le, operands swapped",
  },
  { ...COMPARISON, operator: "Less", since: 1, lower: binary(Op.lt), computes: "lt" },
  { ...COMPARISON, operator: "LessOrEqual", since: 12, lower: binary(Op.le), computes: "le" },

  { ...TEST, operator: "IsInf", since: 10, lower: activations.isInf, computes: "isInf, or eq to one infinity" },
  { ...TEST, operator: "IsNaN", since: 9, lower: unary(Op.isNaN), computes: "isNaN" },

  { ...LOGIC, operator: "And", since: 1, lower: binary(Op.and), computes: "and (bool)" },
  { ...LOGIC, operator: "BitShift", since: 11, lower: activations.bitShift, computes: "shl, shr" },
  { ...LOGIC, operator: "BitwiseAnd", since: 18, lower: binary(Op.and), computes: "and" },
  { ...LOGIC, operator: "BitwiseNot", since: 18, lower: unary(Op.not), computes: "not" },
  { ...LOGIC, operator: "BitwiseOr", since: 18, lower: binary(Op.or), computes: "or" },
  { ...LOGIC, operator: "BitwiseXor", since: 18, lower: binary(Op.xor), computes: "xor" },
  { ...LOGIC, operator: "Not", since: 1, lower: unary(Op.not), computes: "not" },
  { ...LOGIC, operator: "Or", since: 1, lower: binary(Op.or), computes: "or (bool)" },
  { ...LOGIC, operator: "Xor", since: 1, lower: binary(Op.xor), computes: "xor (bool)" },

  {
    ...CAST,
    operator: "Cast",
    since: 6,
    lower: cast,
    decision: { kind: "cast", read: read.cast },
    halves: "own",
    bounded: bounded.keeps,
  },
  {
    ...CAST,
    operator: "CastLike",
    since: 15,
    lower: castLike,
    decision: { kind: "cast", read: read.castLike, like: true },
    halves: "aware",
    bounded: "refused",
  },

  {
    ...ONNX,
    operator: "Where",
    since: 9,
    use: "fuse",
    lower: where,
    decision: moves(1, 2),
    halves: "own",
    narrow: "moved",
    bounded: bounded.elementwise,
    gradient: arithmeticRules.where,
    computes: "select",
  },

  {
    ...ONNX,
    operator: "BitCast",
    since: 26,
    use: "memory",
    lower: bitCast,
    decision: BITS,
    halves: "float32",
    narrow: "aware",
    bounded: "refused",
    gradient: { refused: "it is not differentiable: it reads bits; use Cast" },
    computes:
      "between types with the same size; for floats, float32 and float64. Zero has one form, with the bits 0, " +
      "and NaN has one",
  },
];
