import { constantAffine } from "../expressions/affine.ts";
import { combine } from "../lowering/broadcast.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { chosenRows } from "../lowering/chosenRows.ts";
import { readIndirect } from "../lowering/readIndirect.ts";
import { slicedAlong } from "../lowering/slices.ts";

/** Gather along an axis. */
export const gather: Lower = (context) => {
  const [x, indices] = [context.input(0), context.input(1)];
  return [gatherAlong(context, x, indices, context.axis(context.int("axis", 0), x.shape.length))];
};

/** Returns a tensor's elements at given indices along one dimension. */
export function gatherAlong(context: NodeContext, x: LazyTensor, indexTensor: LazyTensor, axis: number): LazyTensor {
  const { builder, expressions: e } = context;
  const dim = x.shape[axis]!;
  const shape = [...x.shape.slice(0, axis), ...indexTensor.shape, ...x.shape.slice(axis + 1)];
  if (indexTensor.expr.kind === "constant") {
    const raw = Number(indexTensor.expr.value);
    const at = raw < 0 ? raw + dim : raw;
    if (at < 0 || at >= dim) return context.fail(`index ${raw} of a dimension of ${dim}`);
    const one = slicedAlong(context, x, axis, at, 1);
    const ones = indexTensor.shape.map(() => 1);
    const single = builder.reshape(one, [...x.shape.slice(0, axis), ...ones, ...x.shape.slice(axis + 1)]);
    return combine(builder, [single], shape, (v) => v);
  }
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const all = dimensionIndices(digits);
  const rank = indexTensor.shape.length;
  const indirect = readAt(e, builder.plain(indexTensor), all.slice(axis, axis + rank), radix);
  const chosen = builder.isPacked(x) ? chosenRows(e, x, axis, indirect, indexTensor.shape) : undefined;
  if (chosen !== undefined) return chosen;
  const coordinates = [...all.slice(0, axis), { indirect }, ...all.slice(axis + rank)];
  const expr = readIndirect(builder, x, coordinates, radix);
  return { dtype: x.dtype, shape, digits, expr, order: identityOrder(shape.length) };
}

/** Rows of a table [rows, width] at indices [batch, length]: [batch, length, width]. */
export function rowsOf(context: NodeContext, table: LazyTensor, indices: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const shape = [...indices.shape, table.shape[1]!];
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const [batch, length, column] = dimensionIndices(digits);
  const indirect = readAt(e, builder.plain(indices), [batch!, length!], radix);
  const expr = readIndirect(builder, table, [{ indirect }, column!], radix);
  return { dtype: table.dtype, shape, digits, expr, order: identityOrder(3) };
}

/** GatherElements: an index for each result element, along one axis. */
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
