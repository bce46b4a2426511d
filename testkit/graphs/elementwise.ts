import { DType, isFloat } from "../../src/numerics/dtype.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import type { Choices } from "./choices.ts";
import type { Graph, Recipe, Value } from "./graph.ts";

export const FLOATS = [DType.float32, DType.float16, DType.float64, DType.bfloat16] as const;

/** The types of floats. The first type appears in new inputs when no existing value fits, and in shrunken examples. */
export const F: readonly DType[] = FLOATS;
export const INTEGERS = [
  DType.int64,
  DType.int32,
  DType.uint8,
  DType.int8,
  DType.int16,
  DType.uint16,
  DType.uint32,
  DType.uint64,
];

/** The types on which arithmetic is defined. */
const NUMBERS = [...FLOATS, DType.int32, DType.int64, DType.uint32, DType.uint64];
const FLOAT32 = [DType.float32] as const;
const BOOL = [DType.bool] as const;

const FUNCTIONS = (
  "Relu Exp Log Tanh Sigmoid Erf Sqrt Reciprocal Neg Abs Sign Floor Ceil Round Sin Cos Tan Asin Acos Atan " +
  "Sinh Cosh Asinh Acosh Atanh Softplus Softsign Elu Selu Celu LeakyRelu HardSigmoid HardSwish ThresholdedRelu Identity"
).split(" ");
const LATER_FUNCTIONS = ["Mish"];

/** A shape that broadcasts to another. */
export function broadcastable(c: Choices, shape: readonly number[]): number[] {
  return shape.slice(c.below(shape.length + 1)).map((dim) => (c.below(3) === 2 ? 1 : dim));
}

/** Whether one shape broadcasts to another. */
const broadcasts = (from: readonly number[], to: readonly number[]): boolean =>
  from.length <= to.length && from.every((dim, k) => dim === 1 || dim === to[to.length - from.length + k]);

/** Returns another operand for a value: an existing value, a new initializer or a new input. */
function partner(g: Graph, c: Choices, x: Value, dtype: DType = x.dtype): Value {
  const shape = (): number[] => broadcastable(c, x.shape);
  if (c.below(3) === 2) return g.constant(c, dtype, shape());
  return g.pick(c, [dtype], (own) => broadcasts(own, x.shape), shape);
}

const unary: Recipe = (g, c) => {
  const x = g.any(c, F);
  g.node(c.pick([...FUNCTIONS, ...(g.opset >= 18 ? LATER_FUNCTIONS : [])]), [x], [[x.dtype, x.shape]]);
};

const integerUnary: Recipe = (g, c) => {
  const x = g.any(c, [DType.int64, DType.int32, DType.int8]);
  g.node(c.pick(["Abs", "Neg", "Sign", ...(g.opset >= 18 ? ["BitwiseNot"] : [])]), [x], [[x.dtype, x.shape]]);
};

/** One of some operators of two operands. */
export const arithmeticOf =
  (operators: readonly string[]): Recipe =>
  (g, c) => {
    const x = g.any(c, NUMBERS);
    const y = partner(g, c, x);
    const op = c.pick(operators);
    g.node(op, c.flag() ? [x, y] : [y, x], [[x.dtype, x.shape]]);
  };

const arithmetic = arithmeticOf(["Add", "Mul", "Sub", "Div", "Max", "Min"]);

const remainder: Recipe = (g, c) => {
  const x = g.any(c, [...INTEGERS, ...FLOATS]);
  const fmod = isFloat(x.dtype) || c.flag() ? 1 : 0;
  g.node("Mod", [x, partner(g, c, x)], [[x.dtype, x.shape]], { fmod });
};

const power: Recipe = (g, c) => {
  const x = g.any(c, F);
  g.node("Pow", [x, partner(g, c, x)], [[x.dtype, x.shape]]);
};

const compare: Recipe = (g, c) => {
  const x = g.any(c, NUMBERS);
  const y = partner(g, c, x);
  g.node(c.pick(["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"]), [x, y], [[DType.bool, x.shape]]);
};

const logic: Recipe = (g, c) => {
  const x = g.any(c, BOOL);
  if (c.below(4) === 3) g.node("Not", [x], [[DType.bool, x.shape]]);
  else g.node(c.pick(["And", "Or", "Xor"]), [x, partner(g, c, x)], [[DType.bool, x.shape]]);
};

const bits: Recipe = (g, c) => {
  const shift = g.opset < 18 || c.flag();
  const x = g.any(c, shift ? [DType.uint8, DType.uint32, DType.uint64] : INTEGERS);
  const y = partner(g, c, x);
  const attributes: Record<string, AttributeValue> = shift ? { direction: c.pick(["LEFT", "RIGHT"]) } : {};
  g.node(
    shift ? "BitShift" : c.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]),
    [x, y],
    [[x.dtype, x.shape]],
    attributes,
  );
};

const where: Recipe = (g, c) => {
  const x = g.any(c, [...NUMBERS, DType.bool]);
  const condition = partner(g, c, x, DType.bool);
  g.node("Where", c.flag() ? [condition, x, partner(g, c, x)] : [condition, partner(g, c, x), x], [[x.dtype, x.shape]]);
};

const cast: Recipe = (g, c) => {
  const types = [...INTEGERS, ...FLOATS, DType.bool];
  const [x, to] = [g.any(c, types), c.pick(types)];
  g.node("Cast", [x], [[to, x.shape]], { to });
};

const clip: Recipe = (g, c) => {
  const x = g.any(c, [...FLOATS, DType.int32, DType.int64]);
  const bound = (): Value | undefined => (c.flag() ? g.constant(c, x.dtype, []) : undefined);
  g.node("Clip", [x, bound(), bound()], [[x.dtype, x.shape]]);
};

const tests: Recipe = (g, c) => {
  const x = g.any(c, F);
  g.node(c.pick(["IsNaN", "IsInf"]), [x], [[DType.bool, x.shape]]);
};

const gelu: Recipe = (g, c) => {
  const x = g.any(c, F);
  if (g.opset >= 20) g.node("Gelu", [x], [[x.dtype, x.shape]], { approximate: c.pick(["none", "tanh"]) });
  else g.node("Gelu", [x], [[x.dtype, x.shape]], {}, "com.microsoft");
};

const prelu: Recipe = (g, c) => {
  const x = g.any(c, F);
  g.node("PRelu", [x, partner(g, c, x)], [[x.dtype, x.shape]]);
};

const quantise: Recipe = (g, c) => {
  const x = g.any(c, FLOAT32);
  const zero = g.constant(c, c.pick([DType.uint8, DType.int8]), []);
  const [q] = g.node("QuantizeLinear", [x, g.constant(c, DType.float32, []), zero], [[zero.dtype, x.shape]]);
  if (q !== undefined && c.flag())
    g.node("DequantizeLinear", [q, g.constant(c, DType.float32, []), zero], [[DType.float32, x.shape]]);
};

const dynamicQuantise: Recipe = (g, c) => {
  const x = g.any(c, FLOAT32, 1);
  g.node(
    "DynamicQuantizeLinear",
    [x],
    [
      [DType.uint8, x.shape],
      [DType.float32, []],
      [DType.uint8, []],
    ],
  );
};

/** Element by element. */
export const ELEMENTWISE: readonly Recipe[] = [
  arithmetic,
  unary,
  compare,
  where,
  cast,
  clip,
  integerUnary,
  remainder,
  power,
  logic,
  bits,
  tests,
  gelu,
  prelu,
  quantise,
  dynamicQuantise,
];
