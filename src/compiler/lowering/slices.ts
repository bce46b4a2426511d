import { addAffine, constantAffine, scaleAffine } from "../expressions/affine.ts";
import { dimensionIndices, plainDigits, type LazyTensor } from "../expressions/tensor.ts";
import { indexed } from "../steps/views.ts";
import type { NodeContext } from "./nodeContext.ts";

/** The indices kept by a slice in a dimension. */
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

/** Returns `count` elements in one dimension, `start`, `start + 1`, ..., and all elements in the others: a view. */
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

/** Returns the parts of a dimension after a cut into the given sizes: views. */
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

/** Returns part `index` of a dimension after a cut into the given sizes: a view. */
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
