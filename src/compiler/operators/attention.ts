import { DType } from "../../numerics/dtype.ts";
import { floatWord } from "../../numerics/numbers.ts";
import { broadcast, broadcastShapes } from "../lowering/broadcast.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { attend, capped, joinHeads, positionMask, splitHeads } from "./attentionCore.ts";
import { concatenate } from "../lowering/concatenate.ts";
import { indexTensor } from "../lowering/indices.ts";

/** [batch, heads, length, size]; of rank 3, [batch, length, heads * size], the attribute says how many heads. */
function perHead(context: NodeContext, index: number, attribute: string): LazyTensor {
  const tensor = context.floatInput(index);
  return tensor.shape.length === 4 ? tensor : splitHeads(context, tensor, context.int(attribute, 0));
}

/** 0 where query i may see key j <= i + past, -Infinity elsewhere. */
function causalBias(context: NodeContext, queries: number, keys: number, past: number): LazyTensor {
  const e = context.expressions;
  return positionMask(context, queries, keys, (i, j) => {
    const sees = e.le(j, e.add(i, e.int64(past)));
    return e.select(sees, e.float(0), e.float(-Infinity));
  });
}

/**
 * Returns the tensor added to scores: a mask (true: 0, false: -Infinity; or numbers), the causal mask, both or
 * none.
 */
function attentionBias(context: NodeContext, { shape, dtype }: LazyTensor, past: number): LazyTensor | undefined {
  const e = context.expressions;
  const inType = (x: LazyTensor): LazyTensor =>
    x.dtype === dtype ? x : broadcast(context, [x], (value) => e.cast(value, dtype));
  const mask = context.optional(3);
  const parts: LazyTensor[] = [];
  if (mask !== undefined) {
    const numbers =
      mask.dtype === DType.bool
        ? broadcast(context, [mask], (m) => e.select(m, e.float(0), e.float(-Infinity)))
        : context.floatInput(3);
    const padded = paddedMask(context, numbers, shape.at(-1)!);
    if (broadcastShapes([padded.shape, shape])?.join() !== shape.join())
      return context.fail(`a mask of shape [${mask.shape.join()}] for scores [${shape.join()}]`);
    parts.push(padded);
  }
  const isCausal = context.int("is_causal", 0) !== 0;
  const counts = context.optional(6);
  // Behind a cache of its own, the queries are the last of the keys that count.
  const isAligned = counts !== undefined && context.optional(4) === undefined;
  if (isCausal && !isAligned) parts.push(causalBias(context, shape.at(-2)!, shape.at(-1)!, past));
  if (counts !== undefined) parts.push(countBias(context, counts, shape, isCausal && isAligned));
  if (parts.length === 0) return undefined;
  return parts.map(inType).reduce((a, b) => broadcast(context, [a, b], e.add));
}

/** A mask of fewer keys than there are: the others count for nothing. */
function paddedMask(context: NodeContext, mask: LazyTensor, keys: number): LazyTensor {
  const own = mask.shape.at(-1) ?? 0;
  if (context.opset < 24 || own <= 1 || own >= keys) return mask;
  const none = context.builder.filled(mask.dtype, [...mask.shape.slice(0, -1), keys - own], floatWord(-Infinity));
  return concatenate(context, [mask, none], mask.shape.length - 1);
}

/**
 * By batch: 0 for the first keys, as many as the tensor says, and -Infinity for all others.
 * @param isCausal Whether query i of n sees only the keys j <= i + count - n.
 */
function countBias(context: NodeContext, counts: LazyTensor, shape: readonly number[], isCausal: boolean): LazyTensor {
  const { builder, expressions: e } = context;
  if (counts.shape.join() !== String(shape[0]))
    return context.fail(`key counts of shape [${counts.shape.join()}] for scores [${shape.join()}]`);
  const queries = shape.at(-2)!;
  const keys = indexTensor(e, [1, 1, 1, shape.at(-1)!], 3);
  const own = builder.reshape(counts, [shape[0]!, 1, 1, 1]);
  const rows = isCausal ? [indexTensor(e, [1, 1, queries, 1], 2)] : [];
  return broadcast(
    context,
    [keys, own, ...rows],
    (key, count, row) => {
      const end = e.cast(count, DType.int64);
      const seen = row === undefined ? end : e.add(end, e.add(row, e.int64(1 - queries)));
      // The last query sees all keys that count, and none sees more.
      return e.select(e.lt(key, seen), e.float(0), e.float(-Infinity));
    },
    true,
  );
}

/**
 * Attention: r = sqrt(scale), where scale defaults to 1 / sqrt(size); softmax(dot(q * r, k * r) + bias), dot with v.
 * Each head of k and v serves equally many q heads. A cap comes before the mask. A query whose keys are all masked
 * gives 0.
 */
export const attention: Lower = (context) => {
  const e = context.expressions;
  const shown = context.int("qk_matmul_output_mode", 0);
  if (![0, 1, 2, 3].includes(shown)) return context.refuse("qk_matmul_output_mode", `is ${shown}`);
  const precision = context.int("softmax_precision", DType.float32);
  if (precision !== 0 && precision !== DType.float32) context.refuse("softmax_precision", "is not float32");
  const q = perHead(context, 0, "q_num_heads");
  let [k, v] = [perHead(context, 1, "kv_num_heads"), perHead(context, 2, "kv_num_heads")];
  // For tensors with rank 4 the attributes add nothing to the shapes.
  context.ignore("q_num_heads", "kv_num_heads");
  const past = context.optional(4);
  if (past !== undefined) {
    k = concatenate(context, [context.floatInput(4), k], 2);
    v = concatenate(context, [context.floatInput(5), v], 2);
  }
  const size = q.shape[3]!;
  const scale = context.float("scale", Math.fround(1 / Math.fround(Math.sqrt(size))));
  const root = e.float(Math.sqrt(Math.fround(scale)));
  const scaled = (x: LazyTensor): LazyTensor => broadcast(context, [x], (a) => e.mul(a, root));
  /** The stages that the last output may show: the products, capped, with the bias, and the softmax. */
  const stages: LazyTensor[] = [];
  const isShown = (context.node.outputs[3] ?? "") !== "";
  const keep = (stage: LazyTensor): LazyTensor => {
    if (isShown && stages.push(stage) === shown + 1) context.builder.realise(stage);
    return stage;
  };
  const scores = (products: LazyTensor): LazyTensor => {
    const bias = attentionBias(context, products, past?.shape[2] ?? 0);
    const softcap = context.float("softcap", 0);
    keep(products);
    const within = keep(softcap === 0 ? products : broadcast(context, [products], (s) => capped(e, s, softcap)));
    return keep(bias === undefined ? within : broadcast(context, [within, bias], e.add));
  };
  const hides = context.optional(3) !== undefined || context.optional(6) !== undefined;
  const mixed = attend(context, { q: scaled(q), k: scaled(k), v }, { scores, hides, weights: keep });
  return [context.input(0).shape.length === 4 ? mixed : joinHeads(context, mixed), k, v, stages[shown]];
};
