import { addAffine, constantAffine, scaleAffine } from "../expressions/affine.ts";
import { dimensionIndices, plainDigits, type LazyTensor } from "../expressions/tensor.ts";
import { indexed } from "../steps/views.ts";
import type { NodeContext } from "./nodeContext.ts";

/** The indices of one dimension that a slice keeps. */
export type Range = { start: number; step: number; count: number };

/** Reads each dimension at `start + step * index`, in bounds: a view. */
export function sliced(context: NodeContext, tensor: LazyTensor, ranges: readonly Range[]): LazyTensor {
  const x = context.builder.singleDigits(tensor);
  const shape = ranges.map((range) => range.count);
  if (shape.includes(0)) return context.builder.filled(tensor.dtype, shape, 0n);
  const indices = dimensionIndices(plainDigits(shape)).map((index, d) =>
    addAffine(constantAffine(ranges[d]!.start), scaleAffine(index, ranges[d]!.step)),
  );
  return indexed(context.expressions, x, shape, indices, x.order);
}

/** All of a dimension. */
export const wholeRange = (dim: number): Range => ({ start: 0, step: 1, count: dim });

/** The elements `start`, `start + 1`, ... of one dimension, `count` of them, and all of the others: a view. */
export const slicedAlong = (
  context: NodeContext,
  tensor: LazyTensor,
  axis: number,
  start: number,
  count: number,
): LazyTensor =>
  sliced(
    context,
    tensor,
    tensor.shape.map((dim, d) => (d === axis ? { start, step: 1, count } : wholeRange(dim))),
  );

/** The parts of a dimension that is cut into parts of the given sizes: views. */
export function partsAlong(
  context: NodeContext,
  tensor: LazyTensor,
  axis: number,
  sizes: readonly number[],
): LazyTensor[] {
  let end = 0;
  return sizes.map((size) => {
    end += size;
    return slicedAlong(context, tensor, axis, end - size, size);
  });
}

/** Part `index` of a dimension that is cut into parts of the given sizes: a view. */
export function partAlong(
  context: NodeContext,
  tensor: LazyTensor,
  axis: number,
  sizes: readonly number[],
  index: number,
): LazyTensor {
  const start = sizes.slice(0, index).reduce((sum, size) => sum + size, 0);
  return slicedAlong(context, tensor, axis, start, sizes[index]!);
}
