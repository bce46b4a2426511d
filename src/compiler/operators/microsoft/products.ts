/** Quantised products of com.microsoft with float results. */
import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { transposed } from "../../steps/views.ts";
import { selfAttention } from "./attention.ts";
import { dynamicallyQuantised, quantisedType, toQuantised } from "../quantise.ts";
import { integerProduct, type Quantised } from "../quantisedProducts.ts";
import { addTensors, broadcast } from "../../lowering/broadcast.ts";
import { partAlong } from "../../lowering/slices.ts";

/**
 * Returns the scale for a product's factor at input `index`: a single scale for the whole tensor, or a scale per
 * column.
 */
const wholeOrColumns = (context: NodeContext, index: number): LazyTensor => {
  const scale = context.floatInput(index);
  if (elementCount(scale.shape) === 1) return context.builder.reshape(scale, []);
  return scale.shape.length === 1 ? scale : context.refuse(`input ${index}`, `has the shape [${scale.shape.join()}]`);
};

/** `RN(RN(sum) * RN(left * right))`, sum the exact integer product. */
function scaledProduct(
  context: NodeContext,
  [a, b]: readonly [Quantised, Quantised],
  [left, right]: readonly [LazyTensor, LazyTensor],
): LazyTensor {
  const e = context.expressions;
  const scale = broadcast(context, [left, right], e.mul);
  if (!context.builder.isConstant(scale) || elementCount(scale.shape) > 1) context.builder.realise(scale);
  return broadcast(context, [integerProduct(context, a, b), scale], (v, s) => e.mul(e.cast(v, DType.float32), s), true);
}

/** Adds the floats at input `index`, if there are any. */
export const plusInput = (context: NodeContext, x: LazyTensor, index: number): LazyTensor =>
  context.optional(index) === undefined ? x : addTensors(context, x, context.floatInput(index));

/** MatMulIntegerToFloat: the integer product, scaled, with a bias. */
export const matMulIntegerToFloat: Lower = (context) => {
  const scaled = scaledProduct(
    context,
    [
      [context.input(0), context.optional(4)],
      [context.input(1), context.optional(5)],
    ],
    [wholeOrColumns(context, 2), wholeOrColumns(context, 3)],
  );
  return [plusInput(context, scaled, 6)];
};

/** DynamicQuantizeMatMul: quantises the left factor by its own extremes, then multiplies like MatMulIntegerToFloat. */
export const dynamicQuantizeMatMul: Lower = (context) => {
  const [a, scale, zero] = dynamicallyQuantised(context, context.floatInput());
  context.builder.realise(a);
  const b: Quantised = [context.input(1), context.optional(3)];
  return [plusInput(context, scaledProduct(context, [[a, zero], b], [scale, wholeOrColumns(context, 2)]), 4)];
};

/** QAttention: Attention whose projection is a scaled integer product. */
export const qAttention: Lower = (context) => {
  const width = context.input(1).shape.at(-1)! / 3;
  if (context.input(0).shape.length !== 3 || !Number.isInteger(width))
    return context.fail(`data [${context.input(0).shape.join()}], weights [${context.input(1).shape.join()}]`);
  const projected = scaledProduct(
    context,
    [
      [context.input(0), context.optional(6)],
      [context.input(1), context.optional(7)],
    ],
    [wholeOrColumns(context, 3), wholeOrColumns(context, 4)],
  );
  const sum = addTensors(context, projected, context.floatInput(2));
  context.builder.realise(sum);
  const part = (index: number): LazyTensor => partAlong(context, sum, 2, [width, width, width], index);
  return selfAttention(context, [part(0), part(1), part(2)], { mask: 5, past: 8, bias: 9 });
};

/** QGemm: the integer product and C, scaled by RN(alpha * RN(left * right)); quantised if there is a scale for it. */
export const qGemm: Lower = (context) => {
  const e = context.expressions;
  const turned = (index: number, flag: string): LazyTensor => {
    const tensor = context.input(index);
    if (tensor.shape.length !== 2) return context.fail(`input ${index} of shape [${tensor.shape.join()}]`);
    return context.int(flag, 0) === 0 ? tensor : transposed(e, tensor, [1, 0]);
  };
  let sum = integerProduct(
    context,
    [turned(0, "transA"), context.optional(2)],
    [turned(3, "transB"), context.optional(5)],
  );
  const c = context.optional(6);
  if (c !== undefined) sum = addTensors(context, sum, c);
  const alpha = context.float("alpha", 1);
  const output = context.optional(7) && wholeOrColumns(context, 7);
  const scale = broadcast(
    context,
    [wholeOrColumns(context, 1), wholeOrColumns(context, 4), ...(output ? [output] : [])],
    (a, b, s?: Expr) => {
      const whole = e.mul(e.float(alpha), e.mul(a, b));
      return s === undefined ? whole : e.div(whole, s);
    },
  );
  if (!context.builder.isConstant(scale) || elementCount(scale.shape) > 1) context.builder.realise(scale);
  const scaled = (v: Expr, s: Expr): Expr => e.mul(e.cast(v, DType.float32), s);
  if (output === undefined) return [broadcast(context, [sum, scale], scaled, true)];
  const zero = context.optional(8) ?? context.scalar(context.input(0).dtype, 0n);
  quantisedType(context, zero.dtype, "input 8");
  if (elementCount(zero.shape) !== 1) return context.refuse("input 8", "is not for the whole tensor");
  const flat = context.builder.reshape(zero, []);
  return [broadcast(context, [sum, scale, flat], (v, s, z) => toQuantised(e, scaled(v, s), z), true)];
};
