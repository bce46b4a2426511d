import { DType, isFloat } from "../../numerics/dtype.ts";
import { Reduce } from "../../program/types.ts";
import { constantAffine, type Affine } from "../expressions/affine.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { combine } from "../lowering/broadcast.ts";
import type { ReadAxis, ReadExpr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { numberWord, wordNumber } from "../../numerics/numbers.ts";
import { reduceAxes } from "./reduction.ts";
import { sliced, whole } from "./movement.ts";

/** Where a dimension is read: at a function of the digits, or at an index from memory. */
export type Coordinate = Affine | { indirect: ReadExpr };

/** Reads `data` at a coordinate for each dimension; an index from memory wraps once, then out of range gives 0. */
export function readIndirect(
  builder: ProgramBuilder,
  data: LazyTensor,
  coordinates: readonly Coordinate[],
  radix: (digit: number) => number,
): ReadExpr {
  let plain = builder.plain(data);
  // An indirect coordinate counts upwards only.
  if (coordinates.some((c, d) => "indirect" in c && plain.strides[d]! < 0)) {
    builder.store(data, identityOrder(data.shape.length));
    plain = builder.plain(data);
  }
  const direct = coordinates.flatMap((c, d) => ("indirect" in c ? [] : [{ d, index: c }]));
  const rest = {
    ...plain,
    shape: direct.map(({ d }) => plain.shape[d]!),
    strides: direct.map(({ d }) => plain.strides[d]!),
  };
  const axes = coordinates.flatMap((c, d): ReadAxis[] =>
    "indirect" in c
      ? [{ extent: data.shape[d]!, stride: plain.strides[d]!, index: constantAffine(0), indirect: c.indirect }]
      : [],
  );
  const affine = readAt(
    builder.expressions,
    rest,
    direct.map(({ index }) => index),
    radix,
  );
  return builder.expressions.read(plain.source, [...affine.axes, ...axes]);
}

/** The radix of a digit of the given dimensions. */
export const radixOf = (digits: readonly (readonly number[])[]): ((digit: number) => number) => {
  const radices = digits.flat();
  return (digit) => radices[digit]!;
};

/** Gather along an axis. */
export const gather: Lower = (context) => {
  const [x, indices] = [context.input(0), context.input(1)];
  return [gatherAlong(context, x, indices, context.axis(context.int("axis", 0), x.shape.length))];
};

/** The elements of a tensor at indices of one of its dimensions. */
export function gatherAlong(context: NodeContext, x: LazyTensor, indexTensor: LazyTensor, axis: number): LazyTensor {
  const { builder, expressions: e } = context;
  const dim = x.shape[axis]!;
  const shape = [...x.shape.slice(0, axis), ...indexTensor.shape, ...x.shape.slice(axis + 1)];
  if (indexTensor.expr.kind === "constant") {
    const raw = Number(indexTensor.expr.value);
    const at = raw < 0 ? raw + dim : raw;
    if (at < 0 || at >= dim) return context.fail(`index ${raw} of a dimension of ${dim}`);
    const one = sliced(
      context,
      x,
      x.shape.map((d, k) => (k === axis ? { start: at, step: 1, count: 1 } : whole(d))),
    );
    const ones = indexTensor.shape.map(() => 1);
    const single = builder.reshape(one, [...x.shape.slice(0, axis), ...ones, ...x.shape.slice(axis + 1)]);
    return combine(builder, [single], shape, (v) => v);
  }
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const all = dimensionIndices(digits);
  const rank = indexTensor.shape.length;
  const indirect = readAt(e, builder.plain(indexTensor), all.slice(axis, axis + rank), radix);
  const coordinates = [...all.slice(0, axis), { indirect }, ...all.slice(axis + rank)];
  const expr = readIndirect(builder, x, coordinates, radix);
  return { dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) };
}

/** GatherElements: an index for each element of the result, along one axis. */
export const gatherElements: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, indexTensor] = [context.input(0), context.input(1)];
  const axis = context.axis(context.int("axis", 0), x.shape.length);
  const { shape } = indexTensor;
  if (shape.length !== x.shape.length || shape.some((dim, d) => d !== axis && dim > x.shape[d]!))
    return context.fail(`indices [${shape.join()}] into [${x.shape.join()}]`);
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const all = dimensionIndices(digits);
  const indirect = readAt(e, builder.plain(indexTensor), all, radix);
  const expr = readIndirect(
    builder,
    x,
    all.map((index, d) => (d === axis ? { indirect } : index)),
    radix,
  );
  return [{ dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) }];
};

/** GatherND: the last dimension of the indices addresses dimensions of the data after the batch. */
export const gatherNd: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [x, indexTensor] = [context.input(0), context.input(1)];
  const batch = context.int("batch_dims", 0);
  const depth = indexTensor.shape.at(-1) ?? 0;
  const outer = indexTensor.shape.slice(0, -1);
  if (batch + depth > x.shape.length)
    return context.fail(`indices [${indexTensor.shape.join()}] into [${x.shape.join()}]`);
  const shape = [...outer, ...x.shape.slice(batch + depth)];
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const all = dimensionIndices(digits);
  const positions = builder.plain(indexTensor);
  const own = all.slice(0, outer.length);
  const addressed = Array.from({ length: depth }, (_, k) => ({
    indirect: readAt(e, positions, [...own, constantAffine(k)], radix),
  }));
  const coordinates = [...all.slice(0, batch), ...addressed, ...all.slice(outer.length)];
  const expr = readIndirect(builder, x, coordinates, radix);
  return [{ dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) }];
};

/** Elements whose position along `axis` is the given one are `on`, others `off`. */
function mark(
  context: NodeContext,
  at: LazyTensor,
  axis: number,
  size: number,
  on: LazyTensor,
  off: LazyTensor,
): LazyTensor {
  const { builder, expressions: e } = context;
  const shape = at.shape.map((dim, d) => (d === axis ? size : dim));
  const digits = plainDigits(shape);
  const position: LazyTensor = {
    dtype: DType.int64,
    shape,
    digits,
    expr: e.affine(dimensionIndices(digits)[axis]!),
    order: identityOrder(shape.length),
  };
  return combine(builder, [position, at, on, off], shape, (p, i, a, b) => e.select(e.eq(p, i), a, b));
}

/** OneHot: an index in [-depth, depth - 1] sets one element of a new axis; any other sets none. */
export const oneHot: Lower = (context) => {
  const { builder, expressions: e } = context;
  const given = context.input(0);
  const [word] = context.constantWords(context.input(1), "depth") as [bigint];
  const { dtype } = context.input(1);
  const depth = isFloat(dtype) ? Math.trunc(wordNumber(word, dtype)) : Number(word);
  if (!Number.isSafeInteger(depth) || depth < 1) return context.fail(`a depth of ${depth}`);
  const axis = context.axis(context.int("axis", -1), given.shape.length + 1);
  const values = context.input(2);
  const value = (at: number): LazyTensor =>
    builder.reshape(sliced(context, values, [{ start: at, step: 1, count: 1 }]), []);
  const wrapped = combine(builder, [given], given.shape, (v) => {
    const index = e.cast(v, DType.int64);
    const negative = e.lt(index, e.int64(0));
    return e.select(negative, e.add(index, e.int64(depth)), index);
  });
  const at = builder.reshape(wrapped, [...given.shape.slice(0, axis), 1, ...given.shape.slice(axis)]);
  return [mark(context, at, axis, depth, value(1), value(0))];
};

/** Hardmax: 1 at the first maximum, 0 elsewhere; from opset 13 along one axis, before over all from `axis` on. */
export const hardmax: Lower = (context) => {
  const { builder } = context;
  const x = context.input(0);
  const axis = context.axis(context.int("axis", context.opset >= 13 ? -1 : 1), x.shape.length);
  const size = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
  const shape = context.opset >= 13 ? x.shape : [size(x.shape.slice(0, axis)), size(x.shape.slice(axis))];
  const along = context.opset >= 13 ? axis : 1;
  const flat = builder.reshape(x, shape);
  const at = reduceAxes(builder, flat, [along], Reduce.argmax);
  const [zero, one] = [0n, numberWord(1, x.dtype)].map((word) => context.scalar(x.dtype, word));
  return [builder.reshape(mark(context, at, along, shape[along]!, one!, zero!), x.shape)];
};

/** Trilu: one triangle of the last two dimensions, the rest 0. */
export const trilu: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const k = context.constantInts(1, "k")?.[0] ?? 0;
  const upper = context.int("upper", 1) !== 0;
  const rank = x.shape.length;
  if (rank < 2) return context.fail(`data of rank ${rank}`);
  const digits = plainDigits(x.shape);
  const indices = dimensionIndices(digits);
  const index = (dim: number): LazyTensor => ({
    dtype: DType.int64,
    shape: x.shape,
    digits,
    expr: e.affine(indices[dim]!),
    order: identityOrder(rank),
  });
  const offset = e.int64(k);
  const build = (row: LazyTensor["expr"], column: LazyTensor["expr"], v: LazyTensor["expr"]): LazyTensor["expr"] => {
    const diagonal = e.add(row, offset);
    const inside = upper ? e.le(diagonal, column) : e.le(column, diagonal);
    return e.select(inside, v, e.constant(x.dtype, 0n));
  };
  return [combine(builder, [index(rank - 2), index(rank - 1), x], x.shape, build)];
};
