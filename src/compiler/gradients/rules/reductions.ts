import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";

/** The axes that a reduction is over: by attribute or, in later operator sets, by its second input. */
export function axesOf(b: Backward): number[] {
  const rank = b.shape().length;
  const given = b.attributes.has("axes") ? b.attributes.ints("axes") : b.integersOf(1);
  if (given === undefined || given.length === 0)
    return b.attributes.int("noop_with_empty_axes", 0) !== 0 ? [] : b.shape().map((_, d) => d);
  return given.map((axis) => b.axis(axis, rank));
}

/** Returns a reduction's result and gradient, with the reduced dimensions as 1. */
function kept(b: Backward): { axes: number[]; y: string; dy: string; count: number } {
  const axes = axesOf(b);
  const shape = b.shape().map((dim, d) => (axes.includes(d) ? 1 : dim));
  const keep = (x: string): string => b.reshape(x, b.outputShape, shape);
  return { axes, y: keep(b.y), dy: keep(b.dy), count: elementCount(axes.map((axis) => b.shape()[axis]!)) };
}

const reduction =
  (gradient: (b: Backward, of: ReturnType<typeof kept>) => string): Rule =>
  (b) => [gradient(b, kept(b))];

export const reduceSum = reduction((b, { dy }) => b.expand(dy, b.shape()));
export const reduceMean = reduction((b, { dy, count }) => b.expand(b.div(dy, b.f(count)), b.shape()));
export const reduceSumSquare = reduction((b, { dy }) => b.mul(dy, b.add(b.x(), b.x())));
export const reduceL1 = reduction((b, { dy }) => b.mul(dy, b.op("Sign", b.x())));
export const reduceL2 = reduction((b, { dy, y }) => b.mul(b.div(dy, y), b.x()));
export const reduceLogSum = reduction((b, { dy, y }) => b.expand(b.div(dy, b.op("Exp", y)), b.shape()));
export const reduceLogSumExp = reduction((b, { dy, y }) => b.mul(dy, b.op("Exp", b.sub(b.x(), y))));

/** The greatest or least elements share the gradient. */
export const reduceExtreme = reduction((b, { dy, y, axes }) => {
  const isResult = b.opWith("Cast", { to: b.dtype() }, b.op("Equal", b.x(), y));
  return b.mul(b.div(dy, axes.length === 0 ? isResult : b.sum(isResult, axes, 1)), isResult);
});

/** GlobalAveragePool and GlobalMaxPool: over the spatial dimensions. */
const spatial = (b: Backward): number[] => b.shape().flatMap((_, d) => (d < 2 ? [] : [d]));

export const globalAveragePool: Rule = (b) => {
  const count = elementCount(spatial(b).map((axis) => b.shape()[axis]!));
  return [b.expand(b.div(b.dy, b.f(count)), b.shape())];
};

export const globalMaxPool: Rule = (b) => {
  const isResult = b.opWith("Cast", { to: b.dtype() }, b.op("Equal", b.x(), b.y));
  return [b.mul(b.div(b.dy, b.sum(isResult, spatial(b), 1)), isResult)];
};

/** The sum from the other end. */
export const cumSum: Rule = (b) => {
  const reverse = b.attributes.int("reverse", 0) === 0 ? 1 : 0;
  return [b.opWith("CumSum", { exclusive: b.attributes.int("exclusive", 0), reverse }, b.dy, b.x(1))];
};

/** The axes of Softmax and LogSoftmax; before operator set 13 all from the axis on. */
function softmaxAxes(b: Backward): number[] {
  const rank = b.shape().length;
  const axis = b.axis(b.attributes.int("axis", b.opset < 13 ? 1 : -1), rank);
  return b.opset < 13 ? b.shape().flatMap((_, d) => (d < axis ? [] : [d])) : [axis];
}

export const softmax: Rule = (b) => {
  const all = b.sum(b.mul(b.dy, b.y), softmaxAxes(b), 1);
  return [b.mul(b.y, b.sub(b.dy, all))];
};

export const logSoftmax: Rule = (b) => [b.sub(b.dy, b.mul(b.op("Exp", b.y), b.sum(b.dy, softmaxAxes(b), 1)))];
