import { DType, isFloat } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { Reduce } from "../../program/types.ts";
import { addAffine, constantAffine, digitAffine } from "../expressions/affine.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { REDUCTION_DIGIT, type Expr, type Expressions } from "../expressions/expression.ts";
import { withLocality } from "../steps/locality.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { numberWord } from "../../numerics/numbers.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** Reduces the given axes to dimensions with size 1. For a dot, both factors are the element. */
export function reduceAxes(
  builder: ProgramBuilder,
  tensor: LazyTensor,
  axes: readonly number[],
  reduce: Reduce,
): LazyTensor {
  const kept = tensor.order.filter((dim) => !axes.includes(dim));
  const order = [...kept, ...tensor.order.filter((dim) => axes.includes(dim))];
  builder.plain(tensor);
  return withLocality(builder, [{ tensor, order }], (x) => reduceAs(builder, x, axes, reduce));
}

function reduceAs(builder: ProgramBuilder, tensor: LazyTensor, axes: readonly number[], reduce: Reduce): LazyTensor {
  const input = builder.plain(tensor);
  const reduced = new Set(axes);
  const shape = tensor.shape.map((dim, d) => (reduced.has(d) ? 1 : dim));
  const digits = plainDigits(shape);
  // Slowest dimension in memory first: terms are then read in memory order.
  const order = tensor.order.filter((dim) => reduced.has(dim));
  const radices = order.map((dim) => tensor.shape[dim]!);
  const indices = dimensionIndices(digits).map((index, d) =>
    reduced.has(d) ? digitAffine(REDUCTION_DIGIT + order.indexOf(d)) : index,
  );
  const radix = radixOf(digits, radices);
  const term = readAt(builder.expressions, input, indices, radix);
  const isIndex = reduce >= Reduce.argmax && reduce <= Reduce.argminLast;
  const dtype = isIndex ? DType.int64 : tensor.dtype;
  const second = reduce === Reduce.dot ? term : undefined;
  // A reduction only over dimensions of 1 still has a digit.
  const expr = builder.expressions.accumulator(
    reduce,
    tensor.dtype,
    dtype,
    radices.length === 0 ? [1] : radices,
    term,
    second,
  );
  return { dtype, shape, digits, expr, order: tensor.order };
}

/** Removes the given dimensions of 1. */
export function dropAxes(builder: ProgramBuilder, tensor: LazyTensor, axes: readonly number[]): LazyTensor {
  return builder.reshape(
    tensor,
    tensor.shape.filter((_, d) => !axes.includes(d)),
  );
}

/** The axes that a Reduce* node names, sorted; undefined if it reduces nothing. */
export function reducedAxes(context: NodeContext, rank: number, axesInputSince: number): number[] | undefined {
  const list = context.opset >= axesInputSince ? context.constantInts(1, "axes") : context.ints("axes");
  const noop = context.int("noop_with_empty_axes", 0) !== 0;
  if (list === undefined || list.length === 0) return noop ? undefined : identityOrder(rank);
  return [...new Set(list.map((axis) => context.axis(axis, rank)))].sort((a, b) => a - b);
}

type Kind = {
  reduce: Reduce;
  /** Applied to each element first, as a separate rounded primitive. */
  before?: (e: Expressions, x: Expr) => Expr;
  /** Applied to the reduced value of `n` elements. */
  after?: (e: Expressions, x: Expr, n: number) => Expr;
  floatOnly?: true;
};

const countOf = (e: Expressions, x: Expr, n: number): Expr => e.constant(x.dtype, numberWord(n, x.dtype));

/** The Reduce* kinds with one reduction between elementwise primitives. */
export const KINDS = {
  ReduceSum: { reduce: Reduce.sum },
  ReduceMean: { reduce: Reduce.sum, after: (e, x, n) => e.div(x, countOf(e, x, n)) },
  ReduceMax: { reduce: Reduce.max },
  ReduceMin: { reduce: Reduce.min },
  ReduceSumSquare: { reduce: Reduce.dot },
  ReduceL1: { reduce: Reduce.sum, before: (e, x) => e.abs(x) },
  ReduceL2: { reduce: Reduce.dot, after: (e, x) => e.sqrt(x), floatOnly: true },
  ReduceLogSum: { reduce: Reduce.sum, after: (e, x) => e.log(x), floatOnly: true },
} as const satisfies Record<string, Kind>;

/** The maximum or minimum of bool: that of 0 and 1 as uint8. */
function boolReduction(context: NodeContext, kind: Kind, axesInputSince: number): LazyTensor[] {
  const { reduce } = kind;
  if (reduce !== Reduce.max && reduce !== Reduce.min) return context.refuse("input 0", "is bool");
  const e = context.expressions;
  const bytes = broadcast(context, [context.input(0)], (x) => e.cast(x, DType.uint8));
  const inner = context.withInputs([bytes, ...context.inputs.slice(1)]);
  const [result] = reduceOperator(kind, axesInputSince)(inner);
  return [broadcast(context, [result!], (x) => e.cast(x, DType.bool))];
}

/** A Reduce* operator. @param axesInputSince the opset from which the axes are an input */
export const reduceOperator =
  (kind: Kind, axesInputSince: number): Lower =>
  (context) => {
    const { builder } = context;
    const x = context.input(0);
    if (kind.floatOnly && !isFloat(x.dtype)) return context.refuse("input 0", "is not float32");
    if (x.dtype === DType.bool) return boolReduction(context, kind, axesInputSince);
    const keep = context.int("keepdims", 1) !== 0;
    const axes = reducedAxes(context, x.shape.length, axesInputSince);
    const { before, after } = kind;
    const mapped = before ? broadcast(context, [x], (v) => before(context.expressions, v)) : x;
    if (axes === undefined) {
      // Nothing is reduced, but all else is done.
      const one = (v: Expr): Expr => {
        const square = kind.reduce === Reduce.dot ? context.expressions.mul(v, v) : v;
        return after ? after(context.expressions, square, 1) : square;
      };
      return [broadcast(context, [mapped], one)];
    }
    const n = elementCount(axes.map((axis) => x.shape[axis]!));
    let result = reduceAxes(builder, mapped, axes, kind.reduce);
    if (after) result = broadcast(context, [result], (v) => after(context.expressions, v, n));
    return [keep ? result : dropAxes(builder, result, axes)];
  };

/** ReduceLogSumExp: m + log(sum exp(x - m)), m the maximum, or 0 where that is infinite. */
export const reduceLogSumExp: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  if (!isFloat(x.dtype)) return context.refuse("input 0", "is not float32");
  const keep = context.int("keepdims", 1) !== 0;
  const axes = reducedAxes(context, x.shape.length, 18);
  if (axes === undefined) return [x];
  builder.plain(x);
  const m = broadcast(context, [reduceAxes(builder, x, axes, Reduce.max)], (v) =>
    e.select(e.isInf(v), e.constant(v.dtype, 0n), v),
  );
  builder.realise(m);
  const powers = broadcast(context, [x, m], (a, b) => e.exp(e.sub(a, b)));
  const sum = reduceAxes(builder, powers, axes, Reduce.sum);
  const result = broadcast(context, [sum, m], (s, b) => e.add(b, e.log(s)));
  return [keep ? result : dropAxes(builder, result, axes)];
};

/** ArgMax and ArgMin. */
export const argument =
  (first: Reduce, last: Reduce): Lower =>
  (context) => {
    const x = context.input(0);
    const axis = context.axis(context.int("axis", 0), x.shape.length);
    const reduce = context.int("select_last_index", 0) !== 0 ? last : first;
    const result = reduceAxes(context.builder, x, [axis], reduce);
    return [context.int("keepdims", 1) !== 0 ? result : dropAxes(context.builder, result, [axis])];
  };

/**
 * Softmax (and LogSoftmax) over the given axes: m = max; e = exp(x - m); s = sum e; e / s, or (x - m) - log s.
 * @param hides Whether a group in which all is -Infinity gives 0 rather than NaN; without the logarithm only.
 */
export function softmaxOver(
  context: NodeContext,
  x: LazyTensor,
  axes: readonly number[],
  logarithm: boolean,
  hides = false,
): LazyTensor {
  const { builder, expressions: e } = context;
  builder.plain(x);
  const m = reduceAxes(builder, x, axes, Reduce.max);
  builder.realise(m);
  const powers = broadcast(context, [x, m], (a, b) => e.exp(e.sub(a, b)));
  builder.realise(powers);
  const s = reduceAxes(builder, powers, axes, Reduce.sum);
  builder.realise(s);
  if (hides)
    return broadcast(context, [powers, s, m], (a, b, max) =>
      e.select(e.eq(max, e.like(max, -Infinity)), e.like(a, 0), e.div(a, b)),
    );
  if (!logarithm) return broadcast(context, [powers, s], e.div);
  return broadcast(context, [x, m, s], (a, b, c) => e.sub(e.sub(a, b), e.log(c)));
}

/** From opset 13 on over one axis (default the last); before, over all dimensions from `axis` (default 1) on. */
export const softmax =
  (logarithm: boolean): Lower =>
  (context) => {
    const x = context.input(0);
    if (!isFloat(x.dtype)) return context.refuse("input 0", "is not float32");
    const rank = x.shape.length;
    const axis = context.axis(context.int("axis", context.opset >= 13 ? -1 : 1), rank);
    const axes = context.opset >= 13 ? [axis] : identityOrder(rank).slice(axis);
    return [softmaxOver(context, x, axes, logarithm)];
  };

/**
 * Returns, for each element, the exact sum of all terms up to the element along an axis: without the element if
 * `exclusive`, from the end if `reverse`.
 */
export function cumulate(
  context: NodeContext,
  x: LazyTensor,
  axis: number,
  reverse: boolean,
  exclusive: boolean,
): LazyTensor {
  const { builder, expressions: e } = context;
  const input = builder.plain(x);
  const n = x.shape[axis]!;
  const digits = plainDigits(x.shape);
  const radix = radixOf(digits, [n]);
  const indices = dimensionIndices(digits).map((index, d) => {
    if (d !== axis) return index;
    const step = reverse ? 1 : -1;
    return addAffine(addAffine(index, digitAffine(REDUCTION_DIGIT, step)), constantAffine(exclusive ? step : 0));
  });
  const expr = e.accumulator(Reduce.sum, x.dtype, x.dtype, [n], readAt(e, input, indices, radix));
  return { dtype: x.dtype, shape: x.shape, digits, expr, order: x.order };
}

/** CumSum. */
export const cumSum: Lower = (context) => {
  const x = context.input(0);
  const axis = context.axis(context.constantInts(1, "axis")?.[0] ?? 0, x.shape.length);
  const [reverse, exclusive] = [context.int("reverse", 0) !== 0, context.int("exclusive", 0) !== 0];
  return [cumulate(context, x, axis, reverse, exclusive)];
};
