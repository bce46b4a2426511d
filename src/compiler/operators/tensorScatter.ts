import { DType } from "../../numerics/dtype.ts";
import { broadcast, combine } from "../lowering/broadcast.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { readIndirect } from "../lowering/readIndirect.ts";
import { indexTensor } from "../lowering/indices.ts";

/**
 * TensorScatter: an update written into a cache along one dimension, for each example from its own start on. In mode
 * circular it continues at the beginning.
 */
export const tensorScatter: Lower = (context) => {
  const { builder, expressions: e } = context;
  const [cache, update] = [context.input(0), context.input(1)];
  const rank = cache.shape.length;
  const axis = context.axis(context.int("axis", -2), rank);
  const mode = context.string("mode", "linear");
  if (mode !== "linear" && mode !== "circular") return context.refuse("mode", `is ${mode}`);
  const [batch, size, count] = [cache.shape[0]!, cache.shape[axis]!, update.shape[axis]!];
  const fits = update.shape.length === rank && update.shape.every((dim, d) => d === axis || dim === cache.shape[d]);
  if (!fits || axis === 0 || count > size || update.dtype !== cache.dtype)
    return context.fail(`an update [${update.shape.join()}] of [${cache.shape.join()}]`);
  const starts = context.optional(2) ?? builder.filled(DType.int64, [batch], 0n);
  if (starts.shape.join() !== String(batch)) return context.fail(`places of shape [${starts.shape.join()}]`);
  // For each cache position, the update element taken; `count` where the position takes none.
  const sources = broadcast(
    context,
    [builder.reshape(starts, [batch, 1]), indexTensor(e, [size], 0)],
    (start, position) => {
      const straight = e.sub(position, e.cast(start, DType.int64));
      const at = mode === "circular" ? e.mod(straight, e.int64(size)) : straight;
      const inside = e.and(e.le(e.int64(0), at), e.lt(at, e.int64(count)));
      return e.select(inside, at, e.int64(count));
    },
    true,
  );
  builder.realise(sources);
  const digits = plainDigits(cache.shape);
  const radix = radixOf(digits);
  const all = dimensionIndices(digits);
  const indirect = readAt(e, builder.plain(sources), [all[0]!, all[axis]!], radix);
  const expr = readIndirect(
    builder,
    update,
    all.map((index, d) => (d === axis ? { indirect } : index)),
    radix,
  );
  const order = identityOrder(rank);
  const moved: LazyTensor = { dtype: cache.dtype, shape: cache.shape, digits, expr, order };
  const column = builder.reshape(
    sources,
    cache.shape.map((dim, d) => (d === 0 || d === axis ? dim : 1)),
  );
  return [
    combine(builder, [column, moved, cache], cache.shape, (source, now, old) =>
      e.select(e.lt(source, e.int64(count)), now, old),
    ),
  ];
};
