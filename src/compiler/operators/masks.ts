/** Operators that choose elements by their position. */
import { isFloat } from "../../numerics/dtype.ts";
import { Reduce } from "../../program/types.ts";
import { combine } from "../lowering/broadcast.ts";
import { countedFromEnd, indexTensor } from "../lowering/indices.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { Expr } from "../expressions/expression.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { numberWord, wordNumber } from "../../numerics/numbers.ts";
import { reduceAxes } from "./reduction.ts";
import { sliced } from "../lowering/slices.ts";

/** Elements at the given position along `axis` are `on`, others `off`. */
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
  const position = indexTensor(e, shape, axis);
  return combine(builder, [position, at, on, off], shape, (p, i, a, b) => e.select(e.eq(p, i), a, b));
}

/** OneHot: an index in [-depth, depth - 1] sets one element along a new axis; any other index sets none. */
export const oneHot: Lower = (context) => {
  const { builder, expressions: e } = context;
  const given = context.input(0);
  const word = context.constantWord(context.input(1), "depth");
  const { dtype } = context.input(1);
  const depth = isFloat(dtype) ? Math.trunc(wordNumber(word, dtype)) : Number(word);
  if (!Number.isSafeInteger(depth) || depth < 1) return context.fail(`a depth of ${depth}`);
  const axis = context.axis(context.int("axis", -1), given.shape.length + 1);
  const values = context.input(2);
  const value = (at: number): LazyTensor =>
    builder.reshape(sliced(context, values, [{ start: at, step: 1, count: 1 }]), []);
  const wrapped = combine(builder, [given], given.shape, (index) => countedFromEnd(e, index, depth));
  const at = builder.reshape(wrapped, [...given.shape.slice(0, axis), 1, ...given.shape.slice(axis)]);
  return [mark(context, at, axis, depth, value(1), value(0))];
};

/** Hardmax: 1 at the first maximum, 0 elsewhere; from opset 13 along one axis, before over all from `axis` on. */
export const hardmax: Lower = (context) => {
  const { builder } = context;
  const x = context.input(0);
  if (x.shape.length === 0) return context.fail("input 0 is a scalar");
  const axis = context.axis(context.int("axis", context.opset >= 13 ? -1 : 1), x.shape.length);
  const size = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
  const shape = context.opset >= 13 ? x.shape : [size(x.shape.slice(0, axis)), size(x.shape.slice(axis))];
  const along = context.opset >= 13 ? axis : 1;
  const flat = builder.reshape(x, shape);
  const at = reduceAxes(builder, flat, [along], Reduce.argmax);
  const [zero, one] = [0n, numberWord(1, x.dtype)].map((word) => context.scalar(x.dtype, word));
  return [builder.reshape(mark(context, at, along, shape[along]!, one!, zero!), x.shape)];
};

/** Trilu: keeps one triangle in the last two dimensions and sets the rest to 0. */
export const trilu: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  const k = context.constantBounds(1, "k")?.[0] ?? 0;
  const upper = context.int("upper", 1) !== 0;
  const rank = x.shape.length;
  if (rank < 2) return context.fail(`data of rank ${rank}`);
  const offset = e.int64(k);
  const build = (row: Expr, column: Expr, v: Expr): Expr => {
    const diagonal = e.add(row, offset);
    const inside = upper ? e.le(diagonal, column) : e.le(column, diagonal);
    return e.select(inside, v, e.constant(x.dtype, 0n));
  };
  return [combine(builder, [indexTensor(e, x.shape, rank - 2), indexTensor(e, x.shape, rank - 1), x], x.shape, build)];
};
