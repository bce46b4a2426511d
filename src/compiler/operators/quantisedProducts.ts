import { DType } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { addBias, convolution } from "./conv.ts";
import { matrixProduct } from "./matmul.ts";
import { isQuantised, quantisedType, toQuantised } from "./quantise.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** Centred tensors: a tensor centred once serves every product. */
const CENTRED = new WeakMap<ProgramBuilder, Map<string, LazyTensor>>();

/**
 * Returns `int32(tensor) - zero` in memory. In a step's proof, a product of plain int32 elements costs a fifth compared
 * to widening and subtracting in each term; outside the tensor, 0 stands for the zero point.
 * @param column the shape for broadcasting a vector of zero points to the tensor
 */
export function centre(
  context: NodeContext,
  tensor: LazyTensor,
  zero: LazyTensor | undefined,
  column: (size: number) => readonly number[],
): LazyTensor {
  const { builder, expressions: e } = context;
  if (!isQuantised(tensor)) return context.refuse("an input", "is not of 8 or 16 bits");
  if (zero !== undefined && zero.dtype !== tensor.dtype)
    return context.fail("a zero point has another type than its tensor");
  builder.plain(tensor);
  const known = CENTRED.get(builder) ?? new Map<string, LazyTensor>();
  CENTRED.set(builder, known);
  if (zero !== undefined) builder.realise(zero);
  const key = `${tensor.shape.join()} ${tensor.expr.id} ${zero?.shape.join()} ${zero?.expr.id}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const size = zero === undefined ? 0 : elementCount(zero.shape);
  const shaped = zero && (zero.shape.length <= 1 ? builder.reshape(zero, size === 1 ? [] : column(size)) : zero);
  const wide = (x: Expr): Expr => e.cast(x, DType.int32);
  const result =
    shaped === undefined || (size === 1 && builder.words(shaped)?.[0] === 0n)
      ? broadcast(context, [tensor], wide)
      : broadcast(context, [tensor, shaped], (x, z) => e.sub(wide(x), wide(z)));
  if (result.shape.join() !== tensor.shape.join())
    return context.fail(`a zero point of shape [${zero?.shape.join()}] for [${tensor.shape.join()}]`);
  builder.realise(result);
  known.set(key, result);
  return result;
}

/** A tensor and its zero point. */
export type Quantised = readonly [tensor: LazyTensor, zero: LazyTensor | undefined];

export function integerProduct(context: NodeContext, [a, aZero]: Quantised, [b, bZero]: Quantised): LazyTensor {
  if (a.shape.length < 2 || b.shape.length < 2) return context.refuse("an input", "is a vector");
  const left = centre(context, a, aZero, (size) => [size, 1]);
  return matrixProduct(
    context,
    left,
    centre(context, b, bZero, (size) => [size]),
  );
}

function integerConvolution(context: NodeContext, [x, xZero]: Quantised, [w, wZero]: Quantised): LazyTensor {
  const left = centre(context, x, xZero, () => context.refuse("x_zero_point", "is not for the whole tensor"));
  const right = centre(context, w, wZero, (size) => [size, ...w.shape.slice(1).map(() => 1)]);
  return convolution(context, left, right);
}

/** MatMulInteger: the product of `a - zero` and `b - zero`, modulo 2^32. */
export const matMulInteger: Lower = (context) => [
  integerProduct(context, [context.input(0), context.optional(2)], [context.input(1), context.optional(3)]),
];

/** ConvInteger: the convolution of `x - zero` with `w - zero`, modulo 2^32; the padding is the zero point. */
export const convInteger: Lower = (context) => [
  integerConvolution(context, [context.input(0), context.optional(2)], [context.input(1), context.optional(3)]),
];

/** `saturate(roundHalfEven(RN(RN(sum) * m)) + zero)` with m = RN(RN(left * right) / output), from inputs 6 and 7. */
function requantise(context: NodeContext, sum: LazyTensor, left: LazyTensor, right: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const single = (tensor: LazyTensor): LazyTensor => {
    if (elementCount(tensor.shape) !== 1) return context.refuse("input 6 or 7", "is not for the whole tensor");
    return builder.reshape(tensor, []);
  };
  const [scale, zero] = [single(context.floatInput(6)), single(context.input(7))];
  quantisedType(context, zero.dtype, "input 7");
  let multiplier = broadcast(context, [left, right, scale], (a, b, s) => e.div(e.mul(a, b), s));
  if (multiplier.dtype !== DType.float32) return context.refuse("input 6", "is not float32");
  const known = elementCount(multiplier.shape) === 1 ? builder.words(multiplier)?.[0] : undefined;
  if (known !== undefined) multiplier = context.scalar(DType.float32, known);
  else builder.realise(multiplier);
  const build = (v: Expr, m: Expr, z: Expr): Expr => toQuantised(e, e.mul(e.cast(v, DType.float32), m), z);
  return broadcast(context, [sum, multiplier, zero], build, true);
}

/** Returns a scale for the whole tensor, or a vector in the shape from `column`. */
function scaleOf(context: NodeContext, index: number, column: (size: number) => readonly number[]): LazyTensor {
  const scale = context.floatInput(index);
  const size = elementCount(scale.shape);
  if (size === 1) return context.builder.reshape(scale, []);
  return scale.shape.length === 1 ? context.builder.reshape(scale, column(size)) : scale;
}

/** QLinearMatMul: the integer product, requantised in float32. */
export const qLinearMatMul: Lower = (context) => {
  const sum = integerProduct(context, [context.input(0), context.input(2)], [context.input(3), context.input(5)]);
  const left = scaleOf(context, 1, (size) => [size, 1]);
  return [
    requantise(
      context,
      sum,
      left,
      scaleOf(context, 4, (size) => [size]),
    ),
  ];
};

/** QLinearConv: the integer convolution and an int32 bias, modulo 2^32, requantised in float32. */
export const qLinearConv: Lower = (context) => {
  const product = integerConvolution(
    context,
    [context.input(0), context.input(2)],
    [context.input(3), context.input(5)],
  );
  const sum = addBias(context, product, 8);
  const left = scaleOf(context, 1, () => context.refuse("x_scale", "is not for the whole tensor"));
  const right = scaleOf(context, 4, (size) => [size, ...sum.shape.slice(2).map(() => 1)]);
  return [requantise(context, sum, left, right)];
};
