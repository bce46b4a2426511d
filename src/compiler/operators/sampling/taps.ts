/** Reads from a tensor at positions that are data: the mixed elements and the weights. */
import { DType } from "../../../numerics/dtype.ts";
import { Reduce } from "../../../program/types.ts";
import { digitAffine, type Affine } from "../../expressions/affine.ts";
import { REDUCTION_DIGIT, type Expr, type Expressions } from "../../expressions/expression.ts";
import type { NodeContext } from "../../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../../expressions/tensor.ts";
import { readAt } from "../../steps/views.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { readIndirect, type Coordinate } from "../../lowering/readIndirect.ts";
import { indexTensor } from "../../lowering/indices.ts";
import { slicedAlong } from "../../lowering/slices.ts";

/** For each read, along one dimension: positions [..., taps] (int64) and their weights; one position needs none. */
export type Taps = { positions: LazyTensor; weights: LazyTensor | undefined; count: number };

export type Interpolation = "nearest" | "linear" | "cubic";
export type Padding = "zeros" | "border" | "reflection";

const CUBIC = -0.75;

/** Returns component `index` of the last dimension, without the last dimension. */
export function component(context: NodeContext, tensor: LazyTensor, index: number): LazyTensor {
  const last = tensor.shape.length - 1;
  return context.builder.reshape(slicedAlong(context, tensor, last, index, 1), tensor.shape.slice(0, -1));
}

/**
 * Returns the index that a position reads: the position, the border's position, or a mirrored position; for zeros an
 * index out of bounds.
 */
export function padPosition(e: Expressions, at: Expr, size: number, padding: Padding, corners: boolean): Expr {
  const zero = e.int64(0);
  if (padding === "zeros") return e.select(e.lt(at, zero), e.int64(size), at);
  const last = e.int64(size - 1);
  if (padding === "border") return e.min(e.max(at, zero), last);
  // Mirrored at the centres of the outermost elements, or at their edges.
  const period = corners ? 2 * (size - 1) : 2 * size;
  const folded = e.mod(at, e.int64(period));
  const back = e.sub(e.int64(corners ? period : period - 1), folded);
  return e.select(e.le(folded, last), folded, back);
}

/** Returns cubic convolution weights at distance d from a tap: within 1, and from 1 to 2. */
function cubicWeight(e: Expressions, d: Expr, near: Expr): Expr {
  const add = (a: Expr, b: number): Expr => e.add(a, e.float(b));
  const inner = add(e.mul(e.mul(add(e.mul(e.float(CUBIC + 2), d), -(CUBIC + 3)), d), d), 1);
  const outer = add(e.mul(add(e.mul(add(e.mul(e.float(CUBIC), d), -5 * CUBIC), d), 8 * CUBIC), d), -4 * CUBIC);
  return e.select(near, inner, outer);
}

/** Returns the taps for an interpolation at float32 coordinates (in memory) along a dimension with the given size. */
export function tapsAt(
  context: NodeContext,
  coordinates: LazyTensor,
  size: number,
  interpolation: Interpolation,
  pad: (position: Expr) => Expr,
): Taps {
  const { builder, expressions: e } = context;
  const count = { nearest: 1, linear: 2, cubic: 4 }[interpolation];
  const column = builder.reshape(coordinates, [...coordinates.shape, 1]);
  if (count === 1) {
    const positions = broadcast(context, [column], (c) => pad(e.cast(e.round(c), DType.int64)));
    builder.realise(positions);
    return { positions, weights: undefined, count };
  }
  const first = count === 4 ? 1 : 0;
  const taps = indexTensor(e, [count], 0);
  const positions = broadcast(
    context,
    [column, taps],
    (c, t) => {
      const shift = first === 0 ? t : e.sub(t, e.int64(first));
      return pad(e.add(e.cast(e.floor(c), DType.int64), shift));
    },
    true,
  );
  builder.realise(positions);
  const weights = broadcast(
    context,
    [column, taps],
    (c, t) => {
      const fraction = e.sub(c, e.floor(c));
      if (count === 2) {
        const isFirst = e.eq(t, e.int64(0));
        return e.select(isFirst, e.sub(e.float(1), fraction), fraction);
      }
      const tap = e.cast(e.sub(t, e.int64(1)), DType.float32);
      const distance = e.abs(e.sub(fraction, tap));
      const inner = e.le(e.abs(e.sub(e.add(t, t), e.int64(3))), e.int64(1));
      return cubicWeight(e, distance, inner);
    },
    true,
  );
  builder.realise(weights);
  return { positions, weights, count };
}

/** The sampling of a dimension: at an affine function of the result's digits, or at taps, read at `at`. */
type SampledAxis = Affine | { taps: Taps; at: readonly Affine[]; reduced?: readonly Affine[] };

/**
 * Returns the exact sum (or the maximum) over all taps of element times weight, rounded once; the element unchanged if
 * each axis has one tap.
 * @param axes For each dimension of x. `shape` has a digit per dimension above 1.
 * @param extra Sizes of reduction digits before the taps' digits; an axis may use them in `reduced`.
 */
export function sampled(
  context: NodeContext,
  x: LazyTensor,
  shape: readonly number[],
  axes: (indices: readonly Affine[]) => readonly SampledAxis[],
  extra: readonly number[] = [],
  reduce: typeof Reduce.dot | typeof Reduce.max = Reduce.dot,
): LazyTensor {
  const { builder, expressions: e } = context;
  const digits = plainDigits(shape);
  const all = axes(dimensionIndices(digits));
  const radices = [...extra];
  const own = all.map((axis) => {
    if (!("taps" in axis) || axis.taps.count === 1) return undefined;
    radices.push(axis.taps.count);
    return digitAffine(REDUCTION_DIGIT + radices.length - 1);
  });
  const radix = radixOf(digits, radices);
  const zero: Affine = { base: 0, coeffs: new Map() };
  const weights: Expr[] = [];
  const coordinates = all.map((axis, d): Coordinate => {
    if (!("taps" in axis)) return axis;
    const at = [...axis.at, ...(axis.reduced ?? []), own[d] ?? zero];
    if (axis.taps.weights) weights.push(readAt(e, builder.plain(axis.taps.weights), at, radix));
    return { indirect: readAt(e, builder.plain(axis.taps.positions), at, radix) };
  });
  const value = readIndirect(builder, x, coordinates, radix);
  const order = identityOrder(shape.length);
  if (weights.length === 0) return { dtype: x.dtype, shape, digits, expr: value, order };
  const weight = weights.reduce(e.mul);
  const expr =
    reduce === Reduce.dot
      ? e.accumulator(Reduce.dot, x.dtype, x.dtype, radices, value, weight)
      : e.accumulator(Reduce.max, x.dtype, x.dtype, radices, e.mul(value, weight));
  return { dtype: x.dtype, shape, digits, expr, order };
}
