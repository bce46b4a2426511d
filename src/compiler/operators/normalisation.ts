import { elementCount } from "../../model/onnx/model.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { identityOrder, type LazyTensor } from "../expressions/tensor.ts";
import { reduceAxes } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";

/**
 * BatchNormalization: a = g / sqrt(var + eps); ((x - mean) * a) + b. In training (from opset 14) mean and variance are
 * those of the batch, and further outputs are the running ones: old * momentum + new * (1 - momentum).
 */
export const batchNormalization: Lower = (context) => {
  const e = context.expressions;
  const x = context.floatInput();
  const momentum = context.float("momentum", 0.9);
  if (context.opset < 9) context.requireInt("spatial", 1);
  if (context.opset < 7 && context.int("is_test", 0) === 0) context.refuse("is_test", "is 0: training is not executed");
  const training = context.int("training_mode", 0) !== 0;
  if (!training) context.onlyFirstOutput();
  const epsilon = e.float(context.float("epsilon", 1e-5));
  const channels = x.shape[1] ?? 1;
  const column = (index: number): LazyTensor => {
    const vector = context.floatInput(index);
    if (vector.shape.length !== 1 || vector.shape[0] !== channels)
      context.fail(`input ${index} is not a vector of ${channels}`);
    return context.builder.reshape(vector, [channels, ...x.shape.slice(2).map(() => 1)]);
  };
  const [scale, shift, oldMean, oldVariance] = [column(1), column(2), column(3), column(4)];
  const batch = training ? batchMoments(context, x) : undefined;
  const { mean, variance } = batch ?? { mean: oldMean, variance: oldVariance };
  const factor = broadcast(context, [scale, variance], (g, v) => e.div(g, e.sqrt(e.add(v, epsilon))));
  if (context.builder.isConstant(factor)) context.builder.realise(factor);
  const build = (v: Expr, m: Expr, a: Expr, b: Expr): Expr => e.add(e.mul(e.sub(v, m), a), b);
  const result = broadcast(context, [x, mean, factor, shift], build);
  if (batch === undefined) return [result];
  const [kept, taken] = [e.float(momentum), e.float(1 - Math.fround(momentum))];
  const running = (old: LazyTensor, now: LazyTensor): LazyTensor => {
    const mixed = broadcast(context, [old, now], (a, b) => e.add(e.mul(a, kept), e.mul(b, taken)));
    return context.builder.reshape(mixed, [channels]);
  };
  return [result, running(oldMean, mean), running(oldVariance, variance)];
};

/** Mean and variance of each channel over the batch: sum / n and dot(d, d) / n, d = x - mean; [C, 1, ...]. */
function batchMoments(context: NodeContext, x: LazyTensor): { mean: LazyTensor; variance: LazyTensor } {
  const { builder, expressions: e } = context;
  const axes = identityOrder(x.shape.length).filter((axis) => axis !== 1);
  const n = e.float(elementCount(axes.map((axis) => x.shape[axis]!)));
  const perElement = (sum: LazyTensor): LazyTensor => {
    const result = broadcast(context, [sum], (s) => e.div(s, n));
    builder.realise(result);
    return builder.reshape(result, result.shape.slice(1));
  };
  builder.plain(x);
  const mean = perElement(reduceAxes(builder, x, axes, Reduce.sum));
  const d = broadcast(context, [x, mean], e.sub);
  builder.realise(d);
  return { mean, variance: perElement(reduceAxes(builder, d, axes, Reduce.dot)) };
}

/** mu = sum / n; d = x - mu; r = sqrt(dot(d, d) / n + eps); (d / r), each a step. */
export function normalise(
  context: NodeContext,
  x: LazyTensor,
  axes: readonly number[],
  epsilon: number,
): { normal: LazyTensor; mean: LazyTensor; root: LazyTensor } {
  const { builder, expressions: e } = context;
  const n = e.float(elementCount(axes.map((axis) => x.shape[axis]!)));
  builder.plain(x);
  const mu = broadcast(context, [reduceAxes(builder, x, axes, Reduce.sum)], (s) => e.div(s, n));
  builder.realise(mu);
  const d = broadcast(context, [x, mu], e.sub);
  builder.realise(d);
  const rootOf = (s: Expr): Expr => e.sqrt(e.add(e.div(s, n), e.float(epsilon)));
  const r = broadcast(context, [reduceAxes(builder, d, axes, Reduce.dot)], rootOf);
  builder.realise(r);
  const normal = broadcast(context, [d, r], e.div);
  return { normal, mean: mu, root: r };
}

/** `(d / r) * g + b` over the last axes; further outputs are the mean and `1 / r`. */
export const layerNormalization: Lower = (context) => {
  const e = context.expressions;
  const x = context.floatInput();
  const axis = context.axis(context.int("axis", -1), x.shape.length);
  context.requireInt("stash_type", 1);
  const axes = identityOrder(x.shape.length).slice(axis);
  const { normal, mean, root } = normalise(context, x, axes, context.float("epsilon", 1e-5));
  let result = broadcast(context, [normal, context.floatInput(1)], e.mul);
  if (context.optional(2) !== undefined) result = broadcast(context, [result, context.floatInput(2)], e.add);
  return [result, mean, broadcast(context, [root], (r) => e.div(e.float(1), r))];
};

/** `(d / r) * g + b` for each example and channel. */
export const instanceNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const axes = identityOrder(x.shape.length).slice(2);
  const column = (index: number): LazyTensor =>
    builder.reshape(context.floatInput(index), [x.shape[1]!, ...axes.map(() => 1)]);
  const { normal } = normalise(context, x, axes, context.float("epsilon", 1e-5));
  const build = (v: Expr, g: Expr, b: Expr): Expr => e.add(e.mul(v, g), b);
  return [broadcast(context, [normal, column(1), column(2)], build)];
};
