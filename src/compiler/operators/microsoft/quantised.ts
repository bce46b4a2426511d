/** Quantised operators of com.microsoft: inputs are dequantised and outputs quantised, each as in ai.onnx. */
import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import { floatTensor } from "../../../model/onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { identityOrder, type LazyTensor } from "../../expressions/tensor.ts";
import { pool, windowCounts } from "../pool.ts";
import { isQuantised, quantisedType, toQuantised } from "../quantise.ts";
import { centre } from "../quantisedProducts.ts";
import { reduceAxes, softmaxOver } from "../reduction.ts";
import { readWindows } from "../window.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { channelsToLast, channelsToSecond } from "./channels.ts";

/** A scale or zero point for a whole tensor. */
function single(context: NodeContext, index: number): LazyTensor | undefined {
  const tensor = context.optional(index);
  if (tensor === undefined) return undefined;
  if (elementCount(tensor.shape) !== 1) return context.refuse(`input ${index}`, "is not for the whole tensor");
  return context.builder.reshape(tensor, []);
}

const scaleAt = (context: NodeContext, index: number): LazyTensor =>
  single(context, index) ?? context.fail(`input ${index} is missing`);

/** `RN(RN(q - zero) * scale)` of the input at `index`, its scale and zero point at the two after it. */
function dequantised(context: NodeContext, index: number, of = context.input(index)): LazyTensor {
  const e = context.expressions;
  if (!isQuantised(of)) return context.refuse(`input ${index}`, "is not of 8 or 16 bits");
  const zero = single(context, index + 2) ?? context.scalar(of.dtype, 0n);
  if (zero.dtype !== of.dtype) return context.fail("a zero point has another type than its tensor");
  const build = (q: Expr, s: Expr, z: Expr): Expr =>
    e.mul(e.cast(e.sub(e.cast(q, DType.int32), e.cast(z, DType.int32)), DType.float32), s);
  return broadcast(context, [of, scaleAt(context, index + 1), zero], build, true);
}

/** Quantises with the scale at `index` and the next input as the zero point; 0 in `dtype` if no zero point exists. */
function quantised(context: NodeContext, x: LazyTensor, index: number, dtype: DType): LazyTensor {
  const e = context.expressions;
  const zero = single(context, index + 1) ?? context.scalar(dtype, 0n);
  quantisedType(context, zero.dtype, `input ${index + 1}`);
  const build = (v: Expr, s: Expr, z: Expr): Expr => toQuantised(e, e.div(v, s), z);
  return broadcast(context, [x, scaleAt(context, index), zero], build, true);
}

/** QLinearAdd. */
export const qLinearAdd: Lower = (context) => {
  const sum = broadcast(context, [dequantised(context, 0), dequantised(context, 3)], context.expressions.add);
  return [quantised(context, sum, 6, context.input(0).dtype)];
};

/** QLinearMul. */
export const qLinearMul: Lower = (context) => {
  const result = broadcast(context, [dequantised(context, 0), dequantised(context, 3)], context.expressions.mul);
  return [quantised(context, result, 6, context.input(0).dtype)];
};

const activated =
  (build: (context: NodeContext, x: Expr) => Expr): Lower =>
  (context) => {
    const x = broadcast(context, [dequantised(context, 0)], (v) => build(context, v));
    return [quantised(context, x, 3, context.input(0).dtype)];
  };

/** QLinearSigmoid. */
export const qLinearSigmoid = activated(({ expressions: e }, x) => e.sigmoid(x));

/** QLinearLeakyRelu: `x < 0 ? alpha * x : x`. */
export const qLinearLeakyRelu = activated((context, x) => {
  const e = context.expressions;
  const scaled = e.mul(e.float(context.float("alpha", Math.fround(0.01))), x);
  return e.select(e.lt(x, e.float(0)), scaled, x);
});

/** QLinearSoftmax; `opset` says whether over one axis (from 13 on), or over all dimensions from `axis` on. */
export const qLinearSoftmax: Lower = (context) => {
  const x = dequantised(context, 0);
  const rank = x.shape.length;
  const single = context.int("opset", 0) >= 13;
  const axis = context.axis(context.int("axis", single ? -1 : 1), rank);
  const result = softmaxOver(context, x, single ? [axis] : identityOrder(rank).slice(axis), false);
  return [quantised(context, result, 3, context.input(0).dtype)];
};

/** QLinearConcat: each part quantised anew. */
export const qLinearConcat: Lower = (context) => {
  const parts: LazyTensor[] = [];
  for (let index = 2; index < context.inputs.length; index += 3) {
    const part = quantised(context, dequantised(context, index), 0, context.input(index).dtype);
    context.builder.realise(part);
    parts.push(part);
  }
  const [first] = parts;
  if (first === undefined) return context.fail("it has no parts");
  const axis = context.axis(context.int("axis", 0), first.shape.length);
  const alike = (part: LazyTensor): string => part.shape.map((dim, d) => (d === axis ? 0 : dim)).join();
  if (parts.some((part) => alike(part) !== alike(first))) return context.fail("the parts differ outside the axis");
  return [concatenate(context, parts, axis)];
};

/** QLinearWhere: a choice of two, both quantised anew. */
export const qLinearWhere: Lower = (context) => {
  const e = context.expressions;
  const chosen = broadcast(
    context,
    [context.input(0), dequantised(context, 1), dequantised(context, 4)],
    e.select,
    true,
  );
  return [quantised(context, chosen, 7, context.input(1).dtype)];
};

/** A pooling whose data may lie with the channels last. */
function pooled(context: NodeContext, build: (x: LazyTensor) => LazyTensor): LazyTensor {
  const x = context.input(0);
  if (x.shape.length < 3) return context.fail(`data of rank ${x.shape.length}`);
  const last = context.int("channels_last", 0) !== 0;
  const result = build(last ? channelsToSecond(context, x) : x);
  return last ? channelsToLast(context, result) : result;
}

/** `RN(RN(sum * scale) / count)`, quantised: sum the exact one of `q - zero`. */
function average(context: NodeContext, sum: LazyTensor, count: LazyTensor): LazyTensor {
  const e = context.expressions;
  const mean = broadcast(
    context,
    [sum, scaleAt(context, 1), count],
    (v, s, n) => e.div(e.mul(e.cast(v, DType.float32), s), n),
    true,
  );
  return quantised(context, mean, 3, context.input(0).dtype);
}

const centred = (context: NodeContext, x: LazyTensor): LazyTensor =>
  centre(context, x, context.optional(2), () => context.refuse("input 2", "is not for the whole tensor"));

/** QLinearAveragePool: padding is the zero point. */
export const qLinearAveragePool: Lower = (context) => [
  pooled(context, (x) => {
    const windows = readWindows(context, x.shape.slice(2));
    const padded = context.int("count_include_pad", 0) !== 0;
    const counts = windows.map((window) => windowCounts(context, window, padded));
    // onnxruntime counts such positions for quantised data, and does not for floats.
    if (padded && windows.some((window, d) => counts[d]!.some((count) => count < window.kernel)))
      return context.refuse("ceil_mode", "with count_include_pad, where a window hangs over the padding");
    const all = counts.reduce<number[]>((done, own) => done.flatMap((a) => own.map((b) => a * b)), [1]);
    const divisor = context.builder.constant(
      floatTensor(
        all,
        counts.map((own) => own.length),
      ),
    );
    return average(context, pool(context, centred(context, x), windows, Reduce.sum, 0n), divisor);
  }),
];

/** QLinearGlobalAveragePool. */
export const qLinearGlobalAveragePool: Lower = (context) => [
  pooled(context, (x) => {
    const axes = identityOrder(x.shape.length).slice(2);
    const count = context.builder.constant(floatTensor([elementCount(axes.map((axis) => x.shape[axis]!))], []));
    return average(context, reduceAxes(context.builder, centred(context, x), axes, Reduce.sum), count);
  }),
];

/** NhwcMaxPool of quantised data. */
export const nhwcMaxPool: Lower = (context) => {
  const x = channelsToSecond(context, context.input(0));
  if (x.shape.length < 3 || !isQuantised(x)) return context.fail(`data of rank ${x.shape.length}, type ${x.dtype}`);
  const windows = readWindows(context, x.shape.slice(2));
  const lowest = x.dtype === DType.int8 ? -128n : x.dtype === DType.int16 ? -32768n : 0n;
  return [channelsToLast(context, pool(context, x, windows, Reduce.max, lowest))];
};
