import { DType, isFloat } from "../../numerics/dtype.ts";
import { Reduce } from "../../program/types.ts";
import { digitAffine, type Affine } from "../expressions/affine.ts";
import { REDUCTION_DIGIT, type Expr, type Expressions } from "../expressions/expression.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";

/** Returns true where a is greater than b in the total order with NaN as the greatest. */
function greater(e: Expressions, a: Expr, b: Expr): Expr {
  const above = e.lt(b, a);
  if (!isFloat(a.dtype)) return above;
  const nan = e.and(e.isNaN(a), e.not(e.isNaN(b)));
  return e.or(above, nan);
}

/** TopK: an element's rank counts the elements before it; the element with rank k is output k. Ties by index. */
export const topK: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.input(0);
  if (x.dtype === DType.bool) return context.refuse("input 0", "is bool");
  if (x.shape.length === 0) return context.fail("input 0 is a scalar");
  const k = context.opset < 10 ? context.int("k", 0) : (context.constantInts(1, "k")?.[0] ?? 0);
  const axis = context.axis(context.int("axis", -1), x.shape.length);
  const n = x.shape[axis]!;
  const largest = context.int("largest", 1) !== 0;
  // Any order is correct where the node requests none.
  context.ignore("sorted");
  if (k < 1 || k > n) return context.fail(`${k} of ${n} elements`);
  const order = identityOrder(x.shape.length);
  const input = builder.plain(x);
  const term: Affine = n === 1 ? { base: 0, coeffs: new Map() } : digitAffine(REDUCTION_DIGIT);
  const space = (shape: readonly number[]): { digits: number[][]; radix: (d: number) => number; at: Affine[] } => {
    const digits = plainDigits(shape);
    const radix = radixOf(digits, [n]);
    return { digits, radix, at: dimensionIndices(digits) };
  };

  const all = space(x.shape);
  const along = all.at.map((index, d) => (d === axis ? term : index));
  const own = readAt(e, input, all.at, all.radix);
  const other = readAt(e, input, along, all.radix);
  const [first, second] = largest ? [other, own] : [own, other];
  const earlier = e.lt(e.affine(term), e.affine(all.at[axis]!));
  const tied = e.and(e.not(greater(e, second, first)), earlier);
  const before = e.cast(e.or(greater(e, first, second), tied), DType.int64);
  const count = e.accumulator(Reduce.sum, DType.int64, DType.int64, [n], before);
  const rank: LazyTensor = { dtype: DType.int64, shape: x.shape, digits: all.digits, expr: count, order };
  const ranks = builder.plain(rank);

  const shape = x.shape.map((dim, d) => (d === axis ? k : dim));
  const result = space(shape);
  const inner = result.at.map((index, d) => (d === axis ? term : index));
  const match = e.eq(readAt(e, ranks, inner, result.radix), e.affine(result.at[axis]!));
  const last = (dtype: DType, value: Expr): LazyTensor => {
    const expr = e.accumulator(Reduce.last, dtype, dtype, [n], match, value);
    return { dtype, shape, digits: result.digits, expr, order };
  };
  return [last(x.dtype, readAt(e, input, inner, result.radix)), last(DType.int64, e.affine(term))];
};
