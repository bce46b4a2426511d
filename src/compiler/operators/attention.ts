import { DType } from "../../numerics/dtype.ts";
import { broadcast, broadcastShapes } from "../lowering/broadcast.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { attend, capped, joinHeads, positionMask, splitHeads } from "./attentionCore.ts";
import { concatenate } from "../lowering/concatenate.ts";

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

/** What is added to the scores: a mask (true: 0, false: -Infinity; or numbers), the causal one, both or none. */
function attentionBias(context: NodeContext, shape: readonly number[], past: number): LazyTensor | undefined {
  const e = context.expressions;
  const mask = context.optional(3);
  if (mask !== undefined && broadcastShapes([mask.shape, shape])?.join() !== shape.join())
    return context.fail(`a mask of shape [${mask.shape.join()}] for scores [${shape.join()}]`);
  let bias =
    mask?.dtype === DType.bool
      ? broadcast(context, [mask], (m) => e.select(m, e.float(0), e.float(-Infinity)))
      : mask && context.floatInput(3);
  if (context.int("is_causal", 0) !== 0) {
    const causal = causalBias(context, shape.at(-2)!, shape.at(-1)!, past);
    bias = bias === undefined ? causal : broadcast(context, [bias, causal], e.add);
  }
  return bias;
}

/**
 * Attention: r = sqrt(scale), scale 1 / sqrt(size) by default; softmax(dot(q * r, k * r) + bias), dot with v. Heads of
 * k and v serve as many heads of q each.
 */
export const attention: Lower = (context) => {
  const e = context.expressions;
  context.ignore("qk_matmul_output_mode");
  if (context.optional(6) !== undefined)
    return context.refuse("input 6", "says how many keys count, which is not executed");
  const precision = context.int("softmax_precision", DType.float32);
  if (precision !== 0 && precision !== DType.float32) context.refuse("softmax_precision", "is not float32");
  const q = perHead(context, 0, "q_num_heads");
  let [k, v] = [perHead(context, 1, "kv_num_heads"), perHead(context, 2, "kv_num_heads")];
  // Of tensors of rank 4 they say nothing that the shapes do not.
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
  const scores = (products: LazyTensor): LazyTensor => {
    const bias = attentionBias(context, products.shape, past?.shape[2] ?? 0);
    const softcap = context.float("softcap", 0);
    let result = products;
    if (softcap !== 0) {
      // Whether the cap or the mask comes first changed between the texts of the operator.
      if (bias !== undefined) return context.refuse("softcap", "together with a mask is not executed");
      result = broadcast(context, [result], (s) => capped(e, s, softcap));
    }
    return bias === undefined ? result : broadcast(context, [result, bias], e.add);
  };
  const mixed = attend(context, { q: scaled(q), k: scaled(k), v }, { scores });
  return [context.input(0).shape.length === 4 ? mixed : joinHeads(context, mixed), k, v];
};
