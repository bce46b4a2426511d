import { DType } from "../../numerics/dtype.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import { dimensionIndices, identityOrder, plainDigits, type LazyTensor } from "../expressions/tensor.ts";

/** Returns a tensor with the given shape, where each element is the element's index along a dimension, as int64. */
export function indexTensor(e: Expressions, shape: readonly number[], dimension: number): LazyTensor {
  const digits = plainDigits(shape);
  const expr = e.affine(dimensionIndices(digits)[dimension]!);
  return { dtype: DType.int64, shape, digits, expr, order: identityOrder(shape.length) };
}

/** Returns an index as int64; a negative index counts from the end of a dimension with `size` elements. */
export function countedFromEnd(e: Expressions, index: Expr, size: number): Expr {
  const wide = e.cast(index, DType.int64);
  return e.select(e.lt(wide, e.int64(0)), e.add(wide, e.int64(size)), wide);
}
