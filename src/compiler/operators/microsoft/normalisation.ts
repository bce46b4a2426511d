/** Normalisations from com.microsoft, fused with the sums before them. */
import { DType } from "../../../numerics/dtype.ts";
import { Reduce } from "../../../program/types.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { normalise } from "../normalisation.ts";
import { dropAxes, reduceAxes } from "../reduction.ts";
import { addTensors, broadcast } from "../../lowering/broadcast.ts";
import { rowsOf } from "../gather.ts";
import { indexTensor } from "../../lowering/indices.ts";

/** SkipSimplifiedLayerNormalization: s = (x + skip) + bias; r = sqrt(dot(s, s) / n + eps); (s / r) * gamma. */
export const skipSimplifiedLayerNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  let sum = addTensors(context, context.floatInput(0), context.floatInput(1));
  if (context.optional(3)) sum = addTensors(context, sum, context.floatInput(3));
  if (sum.shape.join() !== context.input(0).shape.join()) return context.fail("skip is larger than the input");
  builder.realise(sum);
  const axis = sum.shape.length - 1;
  const [n, epsilon] = [e.float(sum.shape[axis]!), e.float(context.float("epsilon", 1e-5))];
  const root = broadcast(context, [reduceAxes(builder, sum, [axis], Reduce.dot)], (s) =>
    e.sqrt(e.add(e.div(s, n), epsilon)),
  );
  builder.realise(root);
  const result = broadcast(context, [sum, root, context.floatInput(2)], (v, r, g) => e.mul(e.div(v, r), g));
  return [result, undefined, undefined, sum];
};

/** The rows of an embedding table [rows, width] at indices [batch, length]. */
function embed(context: NodeContext, table: LazyTensor, indices: LazyTensor): LazyTensor {
  if (table.shape.length !== 2 || indices.shape.length !== 2)
    return context.fail(`a table of shape [${table.shape.join()}] at [${indices.shape.join()}]`);
  return rowsOf(context, table, indices);
}

/**
 * EmbedLayerNormalization: the sum of word, position and segment embeddings, normalised; then the number of words by
 * the mask.
 */
export const embedLayerNormalization: Lower = (context) => {
  const { builder, expressions: e } = context;
  context.ignore("mask_index_type");
  const ids = context.input(0);
  const [batch = 0, length = 0] = ids.shape;
  const own = indexTensor(context.expressions, [batch, length], 1);
  const given = context.optional(8);
  const positions = given ? broadcast(context, [given, own], (p) => e.cast(p, DType.int64), true) : own;
  builder.realise(positions);
  let sum = addTensors(
    context,
    embed(context, context.floatInput(2), ids),
    embed(context, context.floatInput(3), positions),
  );
  if (context.optional(4) !== undefined)
    sum = addTensors(context, sum, embed(context, context.floatInput(4), context.input(1)));
  builder.realise(sum);
  const { normal } = normalise(context, sum, [2], context.float("epsilon", 1e-12));
  const result = broadcast(context, [normal, context.floatInput(5), context.floatInput(6)], (v, g, b) =>
    e.add(e.mul(v, g), b),
  );
  const mask = context.optional(7);
  const lengths =
    mask === undefined
      ? builder.filled(DType.int32, [batch], 0n)
      : dropAxes(builder, reduceAxes(builder, mask, [1], Reduce.sum), [1]);
  return [result, lengths, sum];
};
