/**
 * Fused operators (com.microsoft) that onnxruntime writes into image generators. Convolution data has channels last.
 */
import { elementCount } from "../../../model/onnx/model.ts";
import { Reduce } from "../../../program/types.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { addBias, convolution } from "../conv.ts";
import { geluOf } from "./fused.ts";
import { normalise } from "../normalisation.ts";
import { dropAxes, reduceAxes } from "../reduction.ts";
import { addTensors, broadcast } from "../../lowering/broadcast.ts";
import { partAlong } from "../../lowering/slices.ts";
import { channelsToLast, channelsToSecond } from "./channels.ts";

/** BiasAdd: (x + bias) + skip. */
export const biasAdd: Lower = (context) => [
  addTensors(context, addTensors(context, context.floatInput(0), context.floatInput(1)), context.floatInput(2)),
];

/** BiasSplitGelu: in x + bias, the first half of the last dimension times Gelu of the second half. */
export const biasSplitGelu: Lower = (context) => {
  const { builder, expressions: e } = context;
  const sum = addTensors(context, context.floatInput(0), context.floatInput(1));
  const axis = sum.shape.length - 1;
  const half = sum.shape[axis]! / 2;
  if (!Number.isInteger(half)) return context.fail(`a last dimension of ${sum.shape[axis]}`);
  builder.realise(sum);
  const [left, right] = [0, 1].map((k) => partAlong(context, sum, axis, [half, half], k)) as [LazyTensor, LazyTensor];
  return [broadcast(context, [left, right], (a, b) => e.mul(a, geluOf(e, b)))];
};

/** Normalised over groups of channels, (d / r) * gamma + beta, then x * sigmoid(x) if `activation` is 1. */
function groupNorm(context: NodeContext, data: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const last = context.int("channels_last", 1) !== 0;
  const x = last ? channelsToSecond(context, data) : data;
  const groups = context.int("groups", 0);
  const [n = 0, channels = 0, ...spatial] = x.shape;
  if (x.shape.length < 3 || groups < 1 || channels % groups !== 0)
    return context.fail(`${groups} groups of [${x.shape.join()}]`);
  const size = (channels / groups) * elementCount(spatial);
  const { normal } = normalise(
    context,
    builder.reshape(x, [n, groups, size]),
    [2],
    context.float("epsilon", Math.fround(1e-5)),
  );
  const column = (index: number): LazyTensor =>
    builder.reshape(context.floatInput(index), [channels, ...spatial.map(() => 1)]);
  const activated = context.int("activation", 0) !== 0;
  const build = (v: Expr, g: Expr, b: Expr): Expr => {
    const y = e.add(e.mul(v, g), b);
    return activated ? e.mul(y, e.sigmoid(y)) : y;
  };
  const result = broadcast(context, [builder.reshape(normal, x.shape), column(1), column(2)], build);
  builder.realise(result);
  return last ? channelsToLast(context, result) : result;
}

/** GroupNorm. */
export const groupNormalised: Lower = (context) => [groupNorm(context, context.floatInput(0))];

/** SkipGroupNorm: GroupNorm of (x + skip) + bias, and that sum. */
export const skipGroupNorm: Lower = (context) => {
  const { builder } = context;
  const x = context.floatInput(0);
  const given = context.floatInput(3);
  const [n = 0, width = 0] = [x.shape[0], x.shape.at(-1)];
  const skip =
    given.shape.length === 2 ? builder.reshape(given, [n, ...x.shape.slice(1, -1).map(() => 1), width]) : given;
  let sum = addTensors(context, x, skip);
  if (context.optional(4) !== undefined) sum = addTensors(context, sum, context.floatInput(4));
  if (sum.shape.join() !== x.shape.join()) return context.fail("skip is larger than the input");
  builder.realise(sum);
  return [groupNorm(context, sum), sum];
};

/** NhwcConv: Conv with the channels last; the weights are [O, spatial..., I / group]. */
export const nhwcConv: Lower = (context) => {
  const [x, w] = [channelsToSecond(context, context.floatInput(0)), channelsToSecond(context, context.floatInput(1))];
  return [channelsToLast(context, addBias(context, convolution(context, x, w), 2))];
};

/** CDist: the distances between the rows of two matrices: sqrt(dot(d, d)), or without the root. */
export const cDist: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [a, b] = [context.floatInput(0), context.floatInput(1)];
  const metric = context.string("metric", "sqeuclidean");
  if (metric !== "euclidean" && metric !== "sqeuclidean") return context.refuse("metric", `is ${metric}`);
  const [m = 0, k = 0] = a.shape;
  const [n = 0, width = 0] = b.shape;
  if (a.shape.length !== 2 || b.shape.length !== 2 || k !== width)
    return context.fail(`[${a.shape.join()}] and [${b.shape.join()}]`);
  const d = broadcast(context, [builder.reshape(a, [m, 1, k]), builder.reshape(b, [1, n, k])], e.sub);
  builder.realise(d);
  const sum = dropAxes(builder, reduceAxes(builder, d, [2], Reduce.dot), [2]);
  return [metric === "euclidean" ? broadcast(context, [sum], e.sqrt) : sum];
};
