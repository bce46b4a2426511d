/** Operators with result sizes known only when the program is executed: bounded, with a count. */
import { DType, isFloat } from "../../numerics/dtype.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { concatenate } from "../lowering/concatenate.ts";
import { indexTensor } from "../lowering/indices.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import { slicedAlong } from "../lowering/slices.ts";
import { rowMajorStrides } from "../steps/views.ts";
import { gatherAlong } from "./gather.ts";
import { cumulate, dropAxes, reduceAxes } from "./reduction.ts";

/** Where the true elements of a list are. */
type Positions = {
  /** int64[bound]: the places of the true elements, in order; from the total on they mean nothing. */
  places: LazyTensor;
  /** bool[bound]: whether there are so many. */
  isThere: LazyTensor;
  /** int64[1]: how many there are. */
  total: LazyTensor;
};

/**
 * Finds the places of a list's true elements: sums over blocks with about the list's square root in length, then the
 * block and the place in the block.
 * @param flags bool[n].
 * @param bound The number of places requested.
 */
export function positionsOf(context: NodeContext, flags: LazyTensor, bound: number): Positions {
  const { builder, expressions: e } = context;
  const { int64 } = DType;
  const [n] = flags.shape as [number];
  const side = Math.ceil(Math.sqrt(n));
  const blocks = Math.ceil(n / side);
  const stored = (tensor: LazyTensor): LazyTensor => {
    builder.realise(tensor);
    return tensor;
  };
  const sumOver = (tensor: LazyTensor): LazyTensor =>
    stored(dropAxes(builder, reduceAxes(builder, stored(tensor), [1], Reduce.sum), [1]));
  const ones = broadcast(context, [flags], (flag) => e.cast(flag, int64));
  const rest = builder.filled(int64, [blocks * side - n], 0n);
  const whole = stored(concatenate(context, [stored(ones), rest], 0));
  const within = stored(cumulate(context, builder.reshape(whole, [blocks, side]), 1, false, false));
  const sums = stored(builder.reshape(slicedAlong(context, within, 1, side - 1, 1), [blocks]));
  const ends = stored(cumulate(context, sums, 0, false, false));
  const starts = stored(broadcast(context, [ends, sums], e.sub));
  const total = stored(slicedAlong(context, ends, 0, blocks - 1, 1));
  const number = indexTensor(e, [bound, 1], 0);
  const passed = (end: LazyTensor): LazyTensor =>
    sumOver(broadcast(context, [end, number], (value, at) => e.cast(e.le(value, at), int64)));
  const block = passed(builder.reshape(ends, [1, blocks]));
  const before = builder.reshape(gatherAlong(context, starts, block, 0), [bound, 1]);
  const offset = passed(broadcast(context, [gatherAlong(context, within, block, 0), before], e.add));
  const places = stored(broadcast(context, [block, offset], (b, o) => e.add(e.mul(b, e.int64(side)), o)));
  const isThere = stored(broadcast(context, [indexTensor(e, [bound], 0), total], (at, all) => e.lt(at, all)));
  return { places, isThere, total };
}

const known = new WeakMap<LazyTensor, Positions>();

/**
 * Returns the positions of all true elements in a tensor. One tensor's positions are found once: all results chosen by
 * these positions share a count.
 */
const positionsIn = (context: NodeContext, of: LazyTensor, flags: LazyTensor): Positions =>
  getOrAdd(known, of, () => positionsOf(context, flags, elementCount(of.shape)));

/** Returns a result in which only the elements below the count are valid. */
export const bounded = (tensor: LazyTensor, axis: number, count: LazyTensor): LazyTensor => ({
  ...tensor,
  bounded: { axis, count },
});

/** The elements of a tensor at places along an axis; 0 where there is none. */
function chosenAlong(
  context: NodeContext,
  x: LazyTensor,
  { places, isThere, total }: Positions,
  axis: number,
): LazyTensor {
  const { builder, expressions: e } = context;
  const [bound] = places.shape as [number];
  const mask = builder.reshape(
    isThere,
    x.shape.map((_, d) => (d === axis ? bound : 1)),
  );
  const chosen = gatherAlong(context, x, places, axis);
  const masked = broadcast(context, [chosen, mask], (v, there) => e.select(there, v, e.constant(v.dtype, 0n)), true);
  return bounded(masked, axis, total);
}

/** NonZero: [rank, elements], zeros from the count on. */
export function boundedNonZero(context: NodeContext, x: LazyTensor): LazyTensor[] {
  const { builder, expressions: e } = context;
  if (x.shape.length === 0) return context.refuse("X", "is a scalar that is not known at compile time");
  const count = elementCount(x.shape);
  const flat = builder.reshape(x, [count]);
  const flags = broadcast(context, [flat], (v) => e.not(e.eq(v, e.constant(v.dtype, 0n))));
  const { places, isThere, total } = positionsIn(context, x, flags);
  const strides = rowMajorStrides(x.shape);
  const rows = x.shape.map((dim, d) => {
    const row = broadcast(
      context,
      [places, isThere],
      (place, there) => e.select(there, e.mod(e.div(place, e.int64(strides[d]!)), e.int64(dim)), e.int64(0)),
      true,
    );
    return builder.reshape(row, [1, count]);
  });
  return [bounded(concatenate(context, rows, 0), 1, total)];
}

/** Compress: one slice per true condition, in a result with a slice per condition, zeros from the count on. */
export function boundedCompress(
  context: NodeContext,
  data: LazyTensor,
  condition: LazyTensor,
  axis: number,
): LazyTensor[] {
  const { builder } = context;
  const count = elementCount(condition.shape);
  if (count > data.shape[axis]!) return context.fail(`${count} conditions of [${data.shape.join()}]`);
  const positions = positionsIn(context, condition, builder.reshape(condition, [count]));
  return [chosenAlong(context, data, positions, axis)];
}

/**
 * Unique over all elements. As many inverse indices as elements.
 * @param sorted By value, NaN last, else by each value's first place.
 */
export function boundedUnique(context: NodeContext, x: LazyTensor, sorted: boolean): LazyTensor[] {
  const { builder, expressions: e } = context;
  const { int64 } = DType;
  const count = elementCount(x.shape);
  const flat = builder.reshape(x, [count]);
  builder.realise(flat);
  const row = (tensor: LazyTensor): LazyTensor => builder.reshape(tensor, [1, count]);
  const column = (tensor: LazyTensor): LazyTensor => builder.reshape(tensor, [count, 1]);
  const place = indexTensor(e, [count], 0);
  /** Returns, for each element, the sum of `pair` over all other elements. */
  const sumOf = (columns: readonly LazyTensor[], rows: readonly LazyTensor[], pair: (...all: Expr[]) => Expr) => {
    const all = broadcast(context, [...columns.map(column), ...rows.map(row)], pair, true);
    builder.realise(all);
    const sum = dropAxes(builder, reduceAxes(builder, all, [1], Reduce.sum), [1]);
    builder.realise(sum);
    return sum;
  };
  const one = (holds: Expr): Expr => e.cast(holds, int64);
  const same = (a: Expr, b: Expr): Expr =>
    isFloat(a.dtype) ? e.or(e.eq(a, b), e.and(e.isNaN(a), e.isNaN(b))) : e.eq(a, b);
  const below = (a: Expr, b: Expr): Expr =>
    isFloat(a.dtype) ? e.or(e.lt(a, b), e.and(e.not(e.isNaN(a)), e.isNaN(b))) : e.lt(a, b);
  const earlier = sumOf([flat, place], [flat, place], (a, i, b, j) => one(e.and(same(a, b), e.lt(j, i))));
  const isFirst = broadcast(context, [earlier], (before) => e.eq(before, e.int64(0)));
  builder.realise(isFirst);
  const rank = sorted
    ? sumOf([flat], [flat, isFirst], (a, b, first) => one(e.and(first, below(b, a))))
    : sumOf([place], [place, isFirst], (i, j, first) => one(e.and(first, e.lt(j, i))));
  const inverse = sumOf([flat], [flat, isFirst, rank], (a, b, first, r) =>
    e.select(e.and(first, same(a, b)), r, e.int64(0)),
  );
  const places = sumOf([place], [place, isFirst, rank], (k, i, first, r) =>
    e.select(e.and(first, e.eq(r, k)), i, e.int64(0)),
  );
  const counts = sumOf([place], [inverse], (k, r) => one(e.eq(r, k)));
  const ones = broadcast(context, [isFirst], one);
  builder.realise(ones);
  const total = reduceAxes(builder, ones, [0], Reduce.sum);
  builder.realise(total);
  const isThere = broadcast(context, [place, total], e.lt);
  builder.realise(isThere);
  const chosen = chosenAlong(context, flat, { places, isThere, total }, 0);
  return [chosen, bounded(places, 0, total), inverse, bounded(counts, 0, total)];
}
