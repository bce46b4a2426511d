import { DType } from "../../numerics/dtype.ts";
import { Op } from "../../program/operations.ts";
import { addAffine, constantAffine } from "../affine.ts";
import { broadcastShapes } from "../elementwise.ts";
import type { Expr } from "../expression.ts";
import type { Lower, NodeContext } from "../nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, type LazyTensor } from "../tensor.ts";
import { transpose } from "../views.ts";
import { broadcast, float, floatInput } from "./elementwise.ts";
import { product } from "./matmul.ts";
import { concatenate } from "./movement.ts";
import { softmaxOver } from "./reduction.ts";

/** [batch, heads, length, size]; of rank 3, [batch, length, heads * size], the attribute says how many heads. */
function perHead(context: NodeContext, index: number, attribute: string): LazyTensor {
  const { builder, expressions: e } = context;
  const tensor = floatInput(context, index);
  if (tensor.shape.length === 4) return tensor;
  const [batch = 1, length = 1, width = 1] = tensor.shape;
  const heads = context.int(attribute, 0);
  if (tensor.shape.length !== 3 || heads < 1 || width % heads !== 0)
    return context.fail(`input ${index} of shape [${tensor.shape.join()}] with ${heads} heads`);
  return transpose(e, builder.reshape(tensor, [batch, length, heads, width / heads]), [0, 2, 1, 3]);
}

/** 0 where query i may see key j <= i + past, -Infinity elsewhere. */
function causalBias(context: NodeContext, queries: number, keys: number, past: number): LazyTensor {
  const e = context.expressions;
  const shape = [queries, keys];
  const digits = plainDigits(shape);
  const [i, j] = dimensionIndices(digits) as [ReturnType<typeof constantAffine>, ReturnType<typeof constantAffine>];
  const sees = e.operation(Op.le, e.affine(j), e.affine(addAffine(i, constantAffine(past))));
  const expr = e.operation(Op.select, sees, float(e, 0), float(e, -Infinity));
  return { dtype: DType.float32, shape, digits, expr, order: identityOrder(2) };
}

/** What is added to the scores: a mask (true: 0, false: -Infinity; or numbers), the causal one, both or none. */
function attentionBias(context: NodeContext, shape: readonly number[], past: number): LazyTensor | undefined {
  const e = context.expressions;
  const mask = context.optional(3);
  if (mask !== undefined && broadcastShapes([mask.shape, shape])?.join() !== shape.join())
    return context.fail(`a mask of shape [${mask.shape.join()}] for scores [${shape.join()}]`);
  let bias =
    mask?.dtype === DType.bool
      ? broadcast(context, [mask], (m) => e.operation(Op.select, m, float(e, 0), float(e, -Infinity)))
      : mask && floatInput(context, 3);
  if (context.int("is_causal", 0) !== 0) {
    const causal = causalBias(context, shape.at(-2)!, shape.at(-1)!, past);
    bias = bias === undefined ? causal : broadcast(context, [bias, causal], (a, b) => e.operation(Op.add, a, b));
  }
  return bias;
}

/**
 * Attention: r = sqrt(scale), scale 1 / sqrt(size) by default; softmax(dot(q * r, k * r) + bias), dot with v. Heads of
 * k and v serve as many heads of q each.
 */
export const attention: Lower = (context) => {
  const { builder, expressions: e } = context;
  context.ignore("qk_matmul_output_mode");
  const precision = context.int("softmax_precision", DType.float32);
  if (precision !== 0 && precision !== DType.float32) context.refuse("softmax_precision", "is not float32");
  const q = perHead(context, 0, "q_num_heads");
  let [k, v] = [perHead(context, 1, "kv_num_heads"), perHead(context, 2, "kv_num_heads")];
  // Of tensors of rank 4 they say nothing that the shapes do not.
  context.ignore("q_num_heads", "kv_num_heads");
  const past = context.optional(4);
  if (past !== undefined) {
    k = concatenate(context, [floatInput(context, 4), k], 2);
    v = concatenate(context, [floatInput(context, 5), v], 2);
  }
  const [batch, heads, queries, size] = q.shape as [number, number, number, number];
  const [kvBatch, kvHeads, keys, keySize] = k.shape as [number, number, number, number];
  if (kvBatch !== batch || heads % kvHeads !== 0 || keySize !== size || v.shape[1] !== kvHeads || v.shape[2] !== keys)
    return context.fail(`q [${q.shape.join()}], k [${k.shape.join()}] and v [${v.shape.join()}]`);
  const scale = context.float("scale", Math.fround(1 / Math.fround(Math.sqrt(size))));
  const root = float(e, Math.sqrt(Math.fround(scale)));
  const scaled = (x: LazyTensor): LazyTensor => broadcast(context, [x], (a) => e.operation(Op.mul, a, root));
  const shared = (x: LazyTensor): LazyTensor => builder.reshape(x, [batch, kvHeads, 1, ...x.shape.slice(2)]);
  const grouped = (x: LazyTensor): LazyTensor =>
    builder.reshape(x, [batch, kvHeads, heads / kvHeads, ...x.shape.slice(2)]);

  const turned = transpose(e, shared(scaled(k)), [0, 1, 2, 4, 3]);
  let scores = builder.reshape(product(context, grouped(scaled(q)), turned), [batch, heads, queries, keys]);
  const bias = attentionBias(context, scores.shape, past?.shape[2] ?? 0);
  const softcap = context.float("softcap", 0);
  if (softcap !== 0) {
    // Whether the cap or the mask comes first changed between the texts of the operator.
    if (bias !== undefined) return context.refuse("softcap", "together with a mask is not executed");
    const cap = float(e, softcap);
    const capped = (s: Expr): Expr => e.operation(Op.mul, e.operation(Op.tanh, e.operation(Op.div, s, cap)), cap);
    scores = broadcast(context, [scores], capped);
  }
  if (bias !== undefined) scores = broadcast(context, [scores, bias], (s, b) => e.operation(Op.add, s, b));
  builder.realise(scores);
  const weights = softmaxOver(context, scores, [3], false);
  const mixed = builder.reshape(product(context, grouped(weights), shared(v)), [batch, heads, queries, v.shape[3]!]);
  if (context.input(0).shape.length === 4) return [mixed, k, v];
  const joined = builder.reshape(transpose(e, mixed, [0, 2, 1, 3]), [batch, queries, heads * v.shape[3]!]);
  return [joined, k, v];
};
