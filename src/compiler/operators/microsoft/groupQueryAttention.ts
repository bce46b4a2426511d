/** GroupQueryAttention and RotaryEmbedding of com.microsoft. */
import { DType } from "../../../numerics/dtype.ts";
import { addTensors, broadcast, broadcastShapes } from "../../lowering/broadcast.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { transposed } from "../../steps/views.ts";
import { attend, capped, joinHeads, positionMask, splitHeads } from "../attentionCore.ts";
import { rotate } from "../rotary.ts";
import { rowsOf } from "../gather.ts";
import { indexTensor } from "../../lowering/indices.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import { partAlong } from "../../lowering/slices.ts";

/** The positions offset, offset + 1, ... of each example: [batch, length]. */
function consecutive(context: NodeContext, batch: number, length: number, offset: LazyTensor | number): LazyTensor {
  const { builder, expressions: e } = context;
  const steps = indexTensor(e, [batch, length], 1);
  const start = typeof offset === "number" ? context.scalar(DType.int64, BigInt(offset)) : builder.reshape(offset, []);
  const result = broadcast(context, [steps, start], e.add);
  builder.realise(result);
  return result;
}

/** Returns the rotation of a head's pairs: rows from the caches at the tokens' positions, [batch, 1, length, half]. */
function angles(context: NodeContext, positions: LazyTensor, caches: readonly [number, number]): LazyTensor[] {
  const [batch, length] = positions.shape as [number, number];
  return caches.map((index) => {
    const cache = context.floatInput(index);
    if (cache.shape.length !== 2) return context.fail(`input ${index} of shape [${cache.shape.join()}]`);
    return context.builder.reshape(rowsOf(context, cache, positions), [batch, 1, length, cache.shape[1]!]);
  });
}

/** RotaryEmbedding of com.microsoft: all tokens' positions, or only the first token's position. */
export const microsoftRotaryEmbedding: Lower = (context) => {
  const { builder } = context;
  const x = context.floatInput();
  context.requireInt("is_packed_batching", 0);
  const scale = context.float("scale", 1);
  if (scale !== 1) return context.refuse("scale", `is ${scale}, only 1 is executed`);
  const flat = x.shape.length === 3;
  const rotated = context.int("rotary_embedding_dim", 0);
  const half = context.input(2).shape.at(-1)!;
  if (rotated !== 0 && rotated !== 2 * half) return context.fail(`caches of ${half} pairs for ${rotated} elements`);
  const heads = context.int("num_heads", 0) || x.shape.at(-1)! / (2 * half);
  if (!flat && x.shape.length !== 4) return context.fail(`data of rank ${x.shape.length}`);
  const perHead = flat ? splitHeads(context, x, heads) : x;
  const [batch, , length] = perHead.shape as [number, number, number];
  const given = context.input(1);
  const isOffset = given.shape.length < 2 && given.shape.join("") in { "": 0, "1": 0 };
  if (!isOffset && given.shape.join() !== [batch, length].join())
    return context.fail(`positions of shape [${given.shape.join()}]`);
  const positions = isOffset ? consecutive(context, batch, length, given) : given;
  const [cos, sin] = angles(context, positions, [2, 3]) as [LazyTensor, LazyTensor];
  const result = rotate(context, perHead, cos, sin, context.int("interleaved", 0) !== 0);
  if (!flat) return [result];
  return [builder.reshape(transposed(context.expressions, result, [0, 2, 1, 3]), x.shape)];
};

/**
 * Returns the number of tokens before the new tokens, equal for all examples: known at compile time, or a tensor,
 * int64[1], for a single new token in a single example.
 */
function pastLength(context: NodeContext, shape: readonly number[], total: number, available: number) {
  const [batch, , length] = shape as [number, number, number];
  // The whole text at once: padding after an example's end does not change earlier tokens.
  if (total === length) return 0;
  const lengths = context.optional(5);
  if (lengths !== undefined && batch === 1 && length === 1 && !context.builder.isConstant(lengths)) {
    if (available + 1 !== total)
      return context.refuse("seqlens_k", `is not known at compile time, for ${total} tokens after ${available}`);
    const e = context.expressions;
    const past = broadcast(context, [context.builder.reshape(lengths, [1])], (end) => e.cast(end, DType.int64));
    context.builder.realise(past);
    return past;
  }
  const ends = new Set(context.constantInts(5, "seqlens_k") ?? []);
  const [end] = ends;
  if (ends.size !== 1 || end === undefined)
    return context.refuse("seqlens_k", "differs between examples: padded batches are not executed");
  const past = end + 1 - length;
  if (past < 0 || past > available || end + 1 !== total)
    return context.refuse("seqlens_k", `is ${end} for a total length of ${total} and a past of ${available}`);
  return past;
}

/** Sets scores to -Infinity for keys hidden from a query: later keys, and with a window also keys further away. */
function visible(context: NodeContext, scores: LazyTensor, past: number | LazyTensor): LazyTensor {
  const e = context.expressions;
  const window = context.int("local_window_size", -1);
  const isKnown = (at: Expr, j: Expr): Expr => {
    const known = e.le(j, at);
    if (window <= 0) return known;
    return e.and(known, e.lt(at, e.add(j, e.int64(window))));
  };
  const [queries, keys] = [scores.shape[2]!, scores.shape[3]!];
  const mask =
    typeof past === "number"
      ? positionMask(context, queries, keys, (i, j) => isKnown(e.add(i, e.int64(past)), j))
      : broadcast(context, [past, indexTensor(e, [1, keys], 1)], isKnown);
  const none = e.float(-Infinity);
  return broadcast(context, [mask, scores], (m, s) => e.select(m, s, none), true);
}

/** Returns one example's keys or values, one row more than `cache`, with the row `now` at the place `past`. */
function placed(context: NodeContext, cache: LazyTensor, now: LazyTensor, past: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const [, heads, rows, size] = cache.shape as [number, number, number, number];
  const longer = concatenate(context, [cache, builder.filled(cache.dtype, [1, heads, 1, size], 0n)], 2);
  const row = indexTensor(e, [1, 1, rows + 1, 1], 2);
  const place = builder.reshape(past, [1, 1, 1, 1]);
  return broadcast(context, [row, place, now, longer], (r, p, x, y) => e.select(e.eq(r, p), x, y), true);
}

/** A score by head that stands for no key: `head_sink`, or 0 with `smooth_softmax`. */
function sinkOf(context: NodeContext, heads: number): LazyTensor | undefined {
  if (context.optional(11) !== undefined) return context.builder.reshape(context.floatInput(11), [1, heads, 1, 1]);
  const smooth = context.int("smooth_softmax", 0) > 0;
  return smooth ? context.builder.filled(DType.float32, [1, heads, 1, 1], 0n) : undefined;
}

/**
 * GroupQueryAttention: causal attention in which several query heads share a head for keys and values. Options: a
 * rotary embedding, a past, a window, a maximum for the scores, and a bias.
 */
export const groupQueryAttention: Lower = (context) => {
  const e = context.expressions;
  const [heads, kvHeads] = [context.int("num_heads", 0), context.int("kv_num_heads", 0)];
  for (const index of [12, 13, 14, 15])
    if (context.optional(index) !== undefined) context.refuse(`input ${index}`, "is not executed");
  for (const name of ["k_quant_type", "v_quant_type"])
    if (context.string(name, "NONE") !== "NONE") context.refuse(name, "is a quantised cache");
  context.ignore("kv_cache_bit_width", "qk_output");
  const given = context.floatInput(0);
  const packed = context.optional(1) === undefined;
  const size = given.shape.at(-1)! / (packed ? heads + 2 * kvHeads : heads);
  if (given.shape.length !== 3 || kvHeads < 1 || heads % kvHeads !== 0 || !Number.isInteger(size))
    return context.fail(`[${given.shape.join()}] for ${heads} heads and ${kvHeads} of keys`);
  if (packed) context.builder.realise(given);
  const widths = [heads * size, kvHeads * size, kvHeads * size];
  const [q, k, v] = [0, 1, 2].map((index) =>
    splitHeads(
      context,
      packed ? partAlong(context, given, 2, widths, index) : context.floatInput(index),
      index === 0 ? heads : kvHeads,
    ),
  ) as [LazyTensor, LazyTensor, LazyTensor];
  const [batch, , length] = q.shape as [number, number, number];

  const pastKey = context.optional(3) && context.floatInput(3);
  const total = context.constantInts(6, "total_sequence_length")?.[0] ?? length;
  const past = pastLength(context, q.shape, total, pastKey?.shape[2] ?? 0);
  let [query, key] = [q, k];
  if (context.int("do_rotary", 0) !== 0) {
    const positions = context.optional(9) ?? consecutive(context, batch, length, past);
    const [cos, sin] = angles(context, positions, [7, 8]) as [LazyTensor, LazyTensor];
    const interleaved = context.int("rotary_interleaved", 0) !== 0;
    [query, key] = [rotate(context, q, cos, sin, interleaved), rotate(context, k, cos, sin, interleaved)];
  } else context.ignore("rotary_interleaved");
  const joined = (index: number, now: LazyTensor): LazyTensor => {
    if (past === 0) return now;
    const cache = context.floatInput(index);
    if (typeof past !== "number") return placed(context, cache, now, past);
    const before = partAlong(context, cache, 2, [past, cache.shape[2]! - past], 0);
    return concatenate(context, [before, now], 2);
  };
  const [keys, values] = [joined(3, key), joined(4, v)];
  if ((pastKey?.shape[2] ?? 0) > keys.shape[2]!)
    return context.refuse("past_key", "is a buffer longer than the whole text");

  const scale = e.float(context.float("scale", 0) || 1 / Math.fround(Math.sqrt(size)));
  const softcap = context.float("softcap", 0);
  const scores = (products: LazyTensor): LazyTensor => {
    const build = (s: Expr): Expr => {
      const scaled = e.mul(scale, s);
      return softcap === 0 ? scaled : capped(e, scaled, softcap);
    };
    let result = broadcast(context, [products], build);
    const bias = context.optional(10) && context.floatInput(10);
    if (bias !== undefined) {
      if (broadcastShapes([bias.shape, result.shape])?.join() !== result.shape.join())
        return context.fail(`a bias of shape [${bias.shape.join()}] for scores [${result.shape.join()}]`);
      result = addTensors(context, result, bias);
    }
    return visible(context, result, past);
  };
  const mixed = attend(context, { q: query, k: keys, v: values }, { scores, sink: sinkOf(context, heads) });
  return [joinHeads(context, mixed), keys, values];
};
