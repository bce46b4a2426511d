/** Attention and MultiHeadAttention of com.microsoft. */
import { DType } from "../../../numerics/dtype.ts";
import { addTensors, broadcast, broadcastShapes } from "../../lowering/broadcast.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { attend, joinHeads, positionMask, splitHeads } from "../attentionCore.ts";
import { matrixProduct } from "../matmul.ts";
import { indexTensor } from "../../lowering/indices.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { partAlong, sliced } from "../../lowering/slices.ts";

/** The smallest finite float32: onnxruntime adds LOWEST to the score for a key that comes after the query. */
const LOWEST = -3.4028234663852886e38;

/** 0 where query i may see key j <= i + past, LOWEST elsewhere: [queries, keys]. */
function causal(context: NodeContext, queries: number, keys: number, past: number): LazyTensor {
  const e = context.expressions;
  return positionMask(context, queries, keys, (i, j) => {
    const sees = e.le(j, e.add(i, e.int64(past)));
    return e.select(sees, e.float(0), e.float(LOWEST));
  });
}

/**
 * `mask_filter_value` where a key is masked, else 0; broadcasts to [batch, heads, queries, keys]. A mask [batch, keys]
 * or [batch, queries, keys] is 0 at masked keys. A mask [batch] holds the end of the keys of each example, and [2 *
 * batch] the ends and then the beginnings.
 */
function keyMask(context: NodeContext, index: number, batch: number, queries: number, keys: number): LazyTensor {
  const { builder, expressions: e } = context;
  const mask = context.input(index);
  const value = e.float(context.float("mask_filter_value", -10000));
  const filter = (kept: Expr): Expr => e.select(kept, e.float(0), value);
  if (mask.dtype !== DType.int32) return context.refuse(`input ${index}`, "is a mask that is not int32");
  const [first = 0, ...rest] = mask.shape;
  if (rest.length === 0 && (first === batch || first === 2 * batch)) {
    builder.realise(mask);
    const bound = (start: number): LazyTensor =>
      builder.reshape(sliced(context, mask, [{ start, step: 1, count: batch }]), [batch, 1, 1, 1]);
    const before = (a: Expr, b: Expr): Expr => e.lt(a, e.cast(b, DType.int64));
    const position = indexTensor(e, [1, 1, 1, keys], 3);
    if (first === batch) return broadcast(context, [position, bound(0)], (j, end) => filter(before(j, end)), true);
    return broadcast(
      context,
      [position, bound(0), bound(batch)],
      (j, end, start) => filter(e.and(before(j, end), e.not(before(j, start)))),
      true,
    );
  }
  const expected = mask.shape.length === 2 ? [batch, keys] : [batch, queries, keys];
  if (mask.shape.join() !== expected.join())
    return context.refuse(`input ${index}`, `is a mask of shape [${mask.shape.join()}]`);
  const shaped = builder.reshape(mask, [batch, 1, ...(rest.length === 1 ? [1] : []), ...rest]);
  return broadcast(context, [shaped], (m) => filter(e.lt(e.constant(DType.int32, 0n), m)));
}

/** The input numbers of a node's masks. */
type Masks = { key: number; bias: number; past: number };

/** scale * products + (bias + mask of keys + causal mask). Those that the node has are summed first. */
function maskedScores(
  context: NodeContext,
  products: LazyTensor,
  { key, bias, past }: Masks,
  size: number,
): LazyTensor {
  const e = context.expressions;
  const [batch, , queries, keys] = products.shape as [number, number, number, number];
  context.ignore("mask_filter_value");
  // A scale of 0 stands for none.
  const scale = e.float(context.float("scale", 0) || 1 / Math.fround(Math.sqrt(size)));
  const parts: LazyTensor[] = [];
  const added = context.optional(bias);
  if (added !== undefined) {
    if (broadcastShapes([added.shape, products.shape])?.join() !== products.shape.join())
      return context.fail(`a bias of shape [${added.shape.join()}] for scores [${products.shape.join()}]`);
    parts.push(context.floatInput(bias));
  }
  if (context.optional(key) !== undefined) parts.push(keyMask(context, key, batch, queries, keys));
  if (context.int("unidirectional", 0) !== 0) parts.push(causal(context, queries, keys, past));
  const scaled = broadcast(context, [products], (s) => e.mul(scale, s));
  if (parts.length === 0) return scaled;
  return addTensors(
    context,
    scaled,
    parts.reduce((a, b) => addTensors(context, a, b)),
  );
}

/** Prepends the past [batch, heads, past, size] to the new elements. */
function withPast(context: NodeContext, past: LazyTensor | undefined, now: LazyTensor): LazyTensor {
  if (past === undefined) return now;
  const fits = past.shape.length === 4 && past.shape.every((dim, d) => d === 2 || dim === now.shape[d]);
  if (!fits) return context.fail(`a past of shape [${past.shape.join()}] before [${now.shape.join()}]`);
  return concatenate(context, [past, now], 2);
}

/**
 * Attention over q, k and v, each [batch, length, heads * size], all products of one tensor with weights. The past has
 * the shape [2, ...].
 */
export function selfAttention(
  context: NodeContext,
  parts: readonly [LazyTensor, LazyTensor, LazyTensor],
  inputs: { mask: number; past: number; bias: number },
): LazyTensor[] {
  const { builder } = context;
  context.requireInt("do_rotary", 0);
  context.requireInt("past_present_share_buffer", 0);
  const heads = context.int("num_heads", 0);
  const [q, k, v] = parts.map((part) => splitHeads(context, part, heads)) as [LazyTensor, LazyTensor, LazyTensor];
  const past = context.optional(inputs.past) && context.floatInput(inputs.past);
  const half = (index: number): LazyTensor | undefined =>
    past && builder.reshape(partAlong(context, past, 0, [1, 1], index), past.shape.slice(1));
  if (past !== undefined && (past.shape.length !== 5 || past.shape[0] !== 2))
    return context.fail(`a past of shape [${past.shape.join()}]`);
  const [keys, values] = [withPast(context, half(0), k), withPast(context, half(1), v)];
  const masks = { key: inputs.mask, bias: inputs.bias, past: past?.shape[3] ?? 0 };
  const scores = (products: LazyTensor): LazyTensor => maskedScores(context, products, masks, q.shape[3]!);
  const output = joinHeads(context, attend(context, { q, k: keys, v: values }, { scores }));
  if ((context.node.outputs[1] ?? "") === "") return [output];
  const one = (tensor: LazyTensor): LazyTensor => builder.reshape(tensor, [1, ...tensor.shape]);
  return [output, concatenate(context, [one(keys), one(values)], 0)];
}

/** Attention: x * W + bias are query, key and value; scale * dot(q, k) + masks; softmax; dot with v. */
export const microsoftAttention: Lower = (context) => {
  const [x, weights] = [context.floatInput(0), context.floatInput(1)];
  const width = weights.shape[1] ?? 0;
  const sizes = context.ints("qkv_hidden_sizes") ?? [width / 3, width / 3, width / 3];
  if (x.shape.length !== 3 || weights.shape.length !== 2 || sizes.length !== 3)
    return context.fail(`data [${x.shape.join()}], weights [${weights.shape.join()}]`);
  if (sizes.some((size) => !Number.isInteger(size)) || sizes.reduce((a, b) => a + b, 0) !== width)
    return context.fail(`widths [${sizes.join()}] of ${width}`);
  const projected = matrixProduct(context, x, weights);
  const sum = context.optional(2) === undefined ? projected : addTensors(context, projected, context.floatInput(2));
  context.builder.realise(sum);
  context.ignore("rotary_embedding_dim");
  const part = (index: number): LazyTensor => partAlong(context, sum, 2, sizes, index);
  return selfAttention(context, [part(0), part(1), part(2)], { mask: 3, past: 4, bias: 5 });
};

type Projections = { q: LazyTensor; k: LazyTensor; v: LazyTensor };

/** Returns q, k and v as [batch, heads, length, size] with bias, from each form that MultiHeadAttention takes. */
function projections(context: NodeContext, heads: number): Projections {
  const { builder } = context;
  const query = context.floatInput(0);
  const [key, value] = [context.optional(1) && context.floatInput(1), context.optional(2) && context.floatInput(2)];
  /** Splits [batch, length, heads, parts, size] into `parts` tensors [batch, length, heads * size]. */
  const unpack = (packed: LazyTensor, parts: number): LazyTensor[] => {
    const [batch = 0, length = 0, count = 0, stacked = 0, size = 0] = packed.shape;
    if (packed.shape.length !== 5 || count !== heads || stacked !== parts)
      return context.fail(`packed heads of shape [${packed.shape.join()}]`);
    const ones = Array.from({ length: parts }, () => 1);
    builder.realise(packed);
    return ones.map((_, k) => builder.reshape(partAlong(context, packed, 3, ones, k), [batch, length, heads * size]));
  };
  let flat: LazyTensor[];
  if (key === undefined) flat = unpack(query, 3);
  else if (value === undefined) flat = [query, ...unpack(key, 2)];
  else flat = [query, key, value];
  const bias = context.optional(3) && context.floatInput(3);
  const widths = flat.map((tensor) => (tensor.shape.length === 4 ? heads * tensor.shape[3]! : tensor.shape[2]!));
  const [q, k, v] = flat.map((tensor, index) => {
    // A key and value of four dimensions are a past: they are already split and have their bias.
    if (tensor.shape.length === 4) return tensor;
    if (bias === undefined) return splitHeads(context, tensor, heads);
    if (bias.shape.join() !== String(widths.reduce((a, b) => a + b, 0)))
      return context.fail(`a bias of shape [${bias.shape.join()}] for widths [${widths.join()}]`);
    const sum = addTensors(context, tensor, partAlong(context, bias, 0, widths, index));
    builder.realise(sum);
    return splitHeads(context, sum, heads);
  });
  return { q: q!, k: k!, v: v! };
}

/** MultiHeadAttention: as Attention, of projections that are made before. */
export const multiHeadAttention: Lower = (context) => {
  const heads = context.int("num_heads", 0);
  for (const index of [8, 9])
    if (context.optional(index) !== undefined) context.refuse(`input ${index}`, "is of a shared buffer");
  const { q, k, v } = projections(context, heads);
  const past = (index: number): LazyTensor | undefined => context.optional(index) && context.floatInput(index);
  const [keys, values] = [withPast(context, past(6), k), withPast(context, past(7), v)];
  const masks = { key: 4, bias: 5, past: keys.shape[2]! - q.shape[2]! };
  const scores = (products: LazyTensor): LazyTensor => maskedScores(context, products, masks, q.shape[3]!);
  return [joinHeads(context, attend(context, { q, k: keys, v: values }, { scores })), keys, values];
};
