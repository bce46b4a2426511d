import { DType } from "../../numerics/dtype.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt, transposed } from "../steps/views.ts";
import { combine } from "../lowering/broadcast.ts";
import { readIndirect } from "../lowering/readIndirect.ts";
import { indexTensor } from "../lowering/indices.ts";

/** Reverses the first `lengths[b]` of the first dimension, for each b of the second. */
export function reverseTimes(context: NodeContext, x: LazyTensor, lengths: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const [steps = 0, batch = 0] = x.shape;
  const time = indexTensor(e, [steps, batch], 0);
  const row = builder.reshape(lengths, [1, batch]);
  const index = combine(builder, [time, row], [steps, batch], (t, length) => {
    const end = e.sub(e.cast(length, DType.int64), e.int64(1));
    return e.select(e.le(t, end), e.sub(end, t), t);
  });
  const digits = plainDigits(x.shape);
  const radix = radixOf(digits);
  const all = dimensionIndices(digits);
  const indirect = readAt(e, builder.plain(index), all.slice(0, 2), radix);
  const expr = readIndirect(builder, x, [{ indirect }, ...all.slice(1)], radix);
  return { dtype: x.dtype, shape: x.shape, digits, expr, order: identityOrder(x.shape.length) };
}

/** ReverseSequence: each sequence's own beginning is reversed, the rest stays. */
export const reverseSequence: Lower = (context) => {
  const [x, lengths] = [context.input(0), context.input(1)];
  const [batchAxis, timeAxis] = [context.int("batch_axis", 1), context.int("time_axis", 0)];
  if (x.shape.length < 2 || batchAxis + timeAxis !== 1 || batchAxis * timeAxis !== 0)
    return context.fail(`axes ${batchAxis} and ${timeAxis} of a tensor of rank ${x.shape.length}`);
  if (lengths.shape.join() !== `${x.shape[batchAxis]!}`) return context.fail(`lengths [${lengths.shape.join()}]`);
  if (timeAxis === 0) return [reverseTimes(context, x, lengths)];
  const perm = [1, 0, ...identityOrder(x.shape.length).slice(2)];
  const e = context.expressions;
  return [transposed(e, reverseTimes(context, transposed(e, x, perm), lengths), perm)];
};
