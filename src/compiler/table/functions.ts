import { decidesInType, FLOATS } from "../../model/decision/operatorClass.ts";
import * as read from "../../model/decision/readDecision.ts";
import { Op } from "../../program/operations.ts";
import * as bounded from "../bounded/rules.ts";
import { STEPS } from "../gradients/refusals.ts";
import { negated, over, square, times } from "../gradients/rules/functions.ts";
import * as activations from "../operators/activations.ts";
import { unary } from "../operators/elementwise.ts";
import { ONNX, type Row } from "./row.ts";

/** One primitive of floats. */
const FUNCTION = { ...ONNX, use: "fuse", decision: FLOATS, halves: "own", bounded: bounded.elementwise } as const;

/** Results that are whole numbers. */
const ROUNDED = {
  ...ONNX,
  use: "fuse",
  decision: decidesInType(read.rounding("whole")),
  halves: "own",
  bounded: bounded.elementwise,
  gradient: STEPS,
} as const;

/** Functions of one element. */
export const FUNCTION_ROWS: readonly Row[] = [
  {
    ...FUNCTION,
    operator: "Acos",
    since: 7,
    lower: unary(Op.acos),
    gradient: negated(over((b, x) => b.op("Sqrt", b.sub(b.f(1), square(b, x))))),
    computes: "acos",
  },
  {
    ...FUNCTION,
    operator: "Acosh",
    since: 9,
    lower: unary(Op.acosh),
    gradient: over((b, x) => b.op("Sqrt", b.sub(square(b, x), b.f(1)))),
    computes: "acosh",
  },
  {
    ...FUNCTION,
    operator: "Asin",
    since: 7,
    lower: unary(Op.asin),
    gradient: over((b, x) => b.op("Sqrt", b.sub(b.f(1), square(b, x)))),
    computes: "asin",
  },
  {
    ...FUNCTION,
    operator: "Asinh",
    since: 9,
    lower: unary(Op.asinh),
    gradient: over((b, x) => b.op("Sqrt", b.add(square(b, x), b.f(1)))),
    computes: "asinh",
  },
  {
    ...FUNCTION,
    operator: "Atan",
    since: 7,
    lower: unary(Op.atan),
    gradient: over((b, x) => b.add(b.f(1), square(b, x))),
    computes: "atan",
  },
  {
    ...FUNCTION,
    operator: "Atanh",
    since: 9,
    lower: unary(Op.atanh),
    gradient: over((b, x) => b.sub(b.f(1), square(b, x))),
    computes: "atanh",
  },
  {
    ...FUNCTION,
    operator: "Cos",
    since: 7,
    lower: unary(Op.cos),
    gradient: negated(times((b, x) => b.op("Sin", x))),
    computes: "cos",
  },
  {
    ...FUNCTION,
    operator: "Cosh",
    since: 9,
    lower: unary(Op.cosh),
    gradient: times((b, x) => b.op("Sinh", x)),
    computes: "cosh",
  },
  {
    ...FUNCTION,
    operator: "Erf",
    since: 9,
    lower: unary(Op.erf),
    gradient: times((b, x) => b.mul(b.f(2 / Math.sqrt(Math.PI)), b.op("Exp", b.neg(square(b, x))))),
    computes: "erf",
  },
  { ...FUNCTION, operator: "Exp", since: 1, lower: unary(Op.exp), gradient: times((_, __, y) => y), computes: "exp" },
  { ...FUNCTION, operator: "Log", since: 1, lower: unary(Op.log), gradient: over((_, x) => x), computes: "log" },
  {
    ...FUNCTION,
    operator: "Reciprocal",
    since: 1,
    lower: activations.reciprocal,
    gradient: negated(times((b, _, y) => square(b, y))),
    computes: "1 / x",
  },
  {
    ...FUNCTION,
    operator: "Sigmoid",
    since: 1,
    lower: unary(Op.sigmoid),
    gradient: times((b, _, y) => b.mul(y, b.sub(b.f(1), y))),
    computes: "sigmoid",
  },
  {
    ...FUNCTION,
    operator: "Sin",
    since: 7,
    lower: unary(Op.sin),
    gradient: times((b, x) => b.op("Cos", x)),
    computes: "sin",
  },
  {
    ...FUNCTION,
    operator: "Sinh",
    since: 9,
    lower: unary(Op.sinh),
    gradient: times((b, x) => b.op("Cosh", x)),
    computes: "sinh",
  },
  {
    ...FUNCTION,
    operator: "Sqrt",
    since: 1,
    lower: unary(Op.sqrt),
    gradient: over((b, _, y) => b.add(y, y)),
    computes: "sqrt",
  },
  {
    ...FUNCTION,
    operator: "Tan",
    since: 7,
    lower: unary(Op.tan),
    gradient: times((b, _, y) => b.add(b.f(1), square(b, y))),
    computes: "tan",
  },
  {
    ...FUNCTION,
    operator: "Tanh",
    since: 1,
    lower: unary(Op.tanh),
    gradient: times((b, _, y) => b.sub(b.f(1), square(b, y))),
    computes: "tanh",
  },

  { ...ROUNDED, operator: "Ceil", since: 1, lower: unary(Op.ceil), computes: "ceil" },
  { ...ROUNDED, operator: "Floor", since: 1, lower: unary(Op.floor), computes: "floor" },
  {
    ...ROUNDED,
    operator: "Round",
    since: 11,
    lower: unary(Op.round),
    decision: decidesInType(read.rounding("halves")),
    computes: "round, half to even",
  },
  {
    ...ROUNDED,
    operator: "Sign",
    since: 9,
    lower: unary(Op.sign),
    decision: decidesInType(read.sign),
    computes: "sign",
  },
];
