import { Reduce } from "../../program/types.ts";
import type { Expr, Expressions } from "../expressions/expression.ts";
import type { NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, type LazyTensor } from "../expressions/tensor.ts";
import { transposed } from "../steps/views.ts";
import { matrixProduct } from "./matmul.ts";
import { reduceAxes, softmaxOver } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";

/** Query, key and value, each [batch, heads, length, size]; one key and value head may serve several query heads. */
type Heads = { q: LazyTensor; k: LazyTensor; v: LazyTensor };

/** The parts of attention that differ between operators. */
type AttendOptions = {
  /** From the exact products [batch, heads, queries, keys] to what the softmax takes. */
  scores: (products: LazyTensor) => LazyTensor;
  /** Per head, [1, heads, 1, 1]: a score that takes a share in each softmax, and stands for no key. */
  sink?: LazyTensor | undefined;
  /** Whether a query without keys, all its scores -Infinity, has weights of 0. */
  hides?: boolean;
  /** From the softmax to what the values are weighed with. */
  weights?: (weights: LazyTensor) => LazyTensor;
};

/** softmax(scores(dot(q, k))), dot with v: [batch, heads, queries, size of v]. */
export function attend(
  context: NodeContext,
  { q, k, v }: Heads,
  { scores, sink, hides = false, weights: modified = (weights) => weights }: AttendOptions,
): LazyTensor {
  const { builder, expressions: e } = context;
  const [batch, heads, queries, size] = q.shape as [number, number, number, number];
  const [kvBatch, kvHeads, keys, keySize] = k.shape as [number, number, number, number];
  if (kvBatch !== batch || heads % kvHeads !== 0 || keySize !== size || v.shape[1] !== kvHeads || v.shape[2] !== keys)
    return context.fail(`q [${q.shape.join()}], k [${k.shape.join()}] and v [${v.shape.join()}]`);
  const shared = (x: LazyTensor): LazyTensor => builder.reshape(x, [batch, kvHeads, 1, ...x.shape.slice(2)]);
  const grouped = (x: LazyTensor): LazyTensor =>
    builder.reshape(x, [batch, kvHeads, heads / kvHeads, ...x.shape.slice(2)]);
  const turned = transposed(e, shared(k), [0, 1, 2, 4, 3]);
  const given = scores(builder.reshape(matrixProduct(context, grouped(q), turned), [batch, heads, queries, keys]));
  builder.realise(given);
  const weights = modified(
    sink === undefined ? softmaxOver(context, given, [3], false, hides) : softmaxWithSink(context, given, sink),
  );
  return builder.reshape(matrixProduct(context, grouped(weights), shared(v)), [batch, heads, queries, v.shape[3]!]);
}

/** m = max(max x, sink); e = exp(x - m); e / (sum e + exp(sink - m)), over the last dimension. */
function softmaxWithSink(context: NodeContext, x: LazyTensor, sink: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const away = (a: Expr, b: Expr): Expr => e.exp(e.sub(a, b));
  const m = broadcast(context, [reduceAxes(builder, x, [3], Reduce.max), sink], e.max);
  builder.realise(m);
  const powers = broadcast(context, [x, m], away);
  builder.realise(powers);
  const sum = broadcast(context, [reduceAxes(builder, powers, [3], Reduce.sum), sink, m], (s, b, a) =>
    e.add(s, away(b, a)),
  );
  builder.realise(sum);
  return broadcast(context, [powers, sum], e.div);
}

/** The index along each dimension of [queries, keys] as expressions, for `build` to compare. */
export function positionMask(
  context: NodeContext,
  queries: number,
  keys: number,
  build: (query: Expr, key: Expr) => Expr,
): LazyTensor {
  const e = context.expressions;
  const shape = [queries, keys];
  const digits = plainDigits(shape);
  const [i, j] = dimensionIndices(digits);
  const expr = build(e.affine(i!), e.affine(j!));
  return { dtype: expr.dtype, shape, digits, expr, order: identityOrder(2) };
}

/** [batch, length, heads * size] as [batch, heads, length, size]. */
export function splitHeads(context: NodeContext, tensor: LazyTensor, heads: number): LazyTensor {
  const [batch = 1, length = 1, width = 1] = tensor.shape;
  if (tensor.shape.length !== 3 || heads < 1 || width % heads !== 0)
    return context.fail(`a tensor of shape [${tensor.shape.join()}] with ${heads} heads`);
  const split = context.builder.reshape(tensor, [batch, length, heads, width / heads]);
  return transposed(context.expressions, split, [0, 2, 1, 3]);
}

/** The reverse: [batch, heads, length, size] as [batch, length, heads * size]. */
export function joinHeads(context: NodeContext, tensor: LazyTensor): LazyTensor {
  const [batch, heads, length, size] = tensor.shape as [number, number, number, number];
  return context.builder.reshape(transposed(context.expressions, tensor, [0, 2, 1, 3]), [batch, length, heads * size]);
}

/** `tanh(s / cap) * cap`. */
export function capped(e: Expressions, score: Expr, cap: number): Expr {
  const limit = e.float(cap);
  return e.mul(e.tanh(e.div(score, limit)), limit);
}
