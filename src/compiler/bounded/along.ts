/** Nodes that compute along a bounded tensor's axis, or return the element count. */
import { DType, isFloat, isHalf } from "../../numerics/dtype.ts";
import { greatestWord, minWord } from "../../numerics/numbers.ts";
import { int64Tensor } from "../../model/onnx/tensorData.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { indexTensor } from "../lowering/indices.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import { KINDS, reducedAxes, reduceOperator } from "../operators/reduction.ts";
import { onlyFirst, refuseAlong, withinCount, type BoundedRule, type Place } from "./read.ts";

/** Cut counts, by the count and the maximum: tensors cut alike share one cut count. */
const cuts = new WeakMap<LazyTensor, Map<number, LazyTensor>>();

/** A count, but at most so many. */
export function atMost(context: NodeContext, count: LazyTensor, max: number): LazyTensor {
  const { builder, expressions: e } = context;
  const known = getOrAdd(cuts, count, () => new Map<number, LazyTensor>());
  return getOrAdd(known, max, () => {
    const cut = broadcast(context, [count], (value) => e.min(value, e.int64(max)));
    builder.realise(cut);
    return cut;
  });
}

/** Returns the node over an input whose elements behind the count are the least or the greatest of the input's type. */
function padded(context: NodeContext, place: Place, isMin: boolean): NodeContext {
  const e = context.expressions;
  const x = context.input(0);
  const word = (isMin ? minWord : greatestWord)(x.dtype);
  if (word >= 1n << 63n && !isFloat(x.dtype)) return refuseAlong(context, 0, "the greatest uint64 is no constant here");
  const filled = withinCount(context, x, place, (value) => e.constant(value.dtype, word));
  return context.withInputs([filled, ...context.inputs.slice(1)]);
}

type Fill = "zeros" | "least" | "greatest" | "mean";

/** Reduce*: elements behind the count are neutral. A mean divides by the count of existing elements. */
export const reduction =
  (fill: Fill, axesInputSince = 18): BoundedRule =>
  (context, places, lower) => {
    const place = onlyFirst(context, places);
    const { shape } = context.input(0);
    const axes = reducedAxes(context, shape.length, axesInputSince) ?? [];
    if (!axes.includes(place.axis)) {
      const removed = context.int("keepdims", 1) === 0 ? axes.filter((axis) => axis < place.axis).length : 0;
      return { axis: place.axis - removed };
    }
    if (fill === "mean") return { outputs: [meanOf(context, place, axes)] };
    const read = fill === "zeros" ? context : padded(context, place, fill === "least");
    return { outputs: lower(read) };
  };

/** RN(RN(sum) / RN(n)), where n counts the existing elements. */
function meanOf(context: NodeContext, { axis, count }: Place, axes: readonly number[]): LazyTensor {
  const e = context.expressions;
  const { dtype, shape } = context.input(0);
  if (!isFloat(dtype) || isHalf(dtype)) return refuseAlong(context, 0, "divide ReduceSum by the count");
  const [sum] = reduceOperator(KINDS.ReduceSum, 18)(context);
  const others = axes.reduce((product, other) => (other === axis ? product : product * shape[other]!), 1);
  const n = broadcast(context, [count], (value) => e.cast(e.mul(value, e.int64(others)), dtype));
  const scalar = context.builder.reshape(n, []);
  context.builder.realise(scalar);
  return broadcast(context, [sum!, scalar], e.div);
}

/** ArgMax, ArgMin: of equal elements the first lies within the count, if any does. */
export const argument =
  (fill: "least" | "greatest"): BoundedRule =>
  (context, places, lower) => {
    const place = onlyFirst(context, places);
    const rank = context.input(0).shape.length;
    const axis = context.axis(context.int("axis", 0), rank);
    if (axis !== place.axis)
      return { axis: place.axis - (context.int("keepdims", 1) === 0 && axis < place.axis ? 1 : 0) };
    if (context.int("select_last_index", 0) !== 0) return refuseAlong(context, 0, "of equal ones, take the first");
    return { outputs: lower(padded(context, place, fill === "least")) };
  };

export const cumSum: BoundedRule = (context, places) => {
  const { axis } = onlyFirst(context, places);
  const [along] = context.constantInts(1, "axis") ?? [];
  const isReverse = context.int("reverse", 0) !== 0;
  if (isReverse && context.axis(along ?? 0, context.input(0).shape.length) === axis)
    return refuseAlong(context, 0, "sum from the first one on");
  return { axis };
};

/** Shape: the count is one of its elements. */
export const shape: BoundedRule = (context, places) => {
  const e = context.expressions;
  const { axis, count } = onlyFirst(context, places);
  const dims = context.input(0).shape;
  const at = (value: number): number => Math.min(dims.length, Math.max(0, value < 0 ? value + dims.length : value));
  const [start, end] = [at(context.bound("start", 0)), at(context.bound("end", dims.length))];
  const known = context.builder.constant(int64Tensor(dims.slice(start, end)));
  if (axis < start || axis >= end) return { outputs: [known] };
  const choose = broadcast(context, [indexTensor(e, known.shape, 0), known, count], (place, dim, all) =>
    e.select(e.eq(place, e.int64(axis - start)), all, dim),
  );
  return { outputs: [choose] };
};

/** Size: the count times all other dimensions. */
export const size: BoundedRule = (context, places) => {
  const e = context.expressions;
  const { axis, count } = onlyFirst(context, places);
  const others = context.input(0).shape.reduce((product, dim, d) => (d === axis ? product : product * dim), 1);
  const scalar = context.builder.reshape(count, []);
  return { outputs: [broadcast(context, [scalar], (value) => e.mul(value, e.int64(others)))] };
};

/**
 * An index that no tensor has, because a tensor has less than 2^32 elements; for int32, an index that no axis has in
 * practice.
 */
const NO_INDEX = { [DType.int32]: 2n ** 31n - 1n, [DType.int64]: 2n ** 32n } as Partial<Record<DType, bigint>>;

/** ScatterND, ScatterElements, of bounded updates: what is behind the count is written nowhere. */
export const scatter: BoundedRule = (context, places, lower) => {
  const e = context.expressions;
  const [indices, updates] = [1, 2].map((input) => places.find((place) => place.input === input));
  const given = context.input(1);
  const tuples = context.node.operator === "ScatterND";
  if (places.length !== 2 || indices === undefined || indices.axis !== updates?.axis)
    return refuseAlong(context, places[0]!.input, "indices and updates must have it, and nothing else");
  if (tuples && indices.axis === given.shape.length - 1)
    return refuseAlong(context, 1, "it is the one of the index tuples");
  const nowhere = NO_INDEX[given.dtype] ?? context.refuse("input 1", "is neither int32 nor int64");
  const inside = withinCount(context, given, indices, (value) => e.constant(value.dtype, nowhere));
  context.builder.realise(inside);
  return { outputs: lower(context.withInputs([context.input(0), inside, context.input(2)])) };
};
