import { dtypeName, isFloat } from "../../numerics/dtype.ts";
import { Reduce } from "../../program/types.ts";
import { constantAffine, digitAffine, type Affine } from "../expressions/affine.ts";
import type { ProgramBuilder } from "../steps/builder.ts";
import { broadcast, broadcastShapes } from "../lowering/broadcast.ts";
import { REDUCTION_DIGIT } from "../expressions/expression.ts";
import { withLocality } from "../steps/locality.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt, transposed } from "../steps/views.ts";

/** The exact product of [..., M, K] and [..., K, N], batch dimensions broadcast. */
export function matrixProduct(context: NodeContext, a: LazyTensor, right: LazyTensor): LazyTensor {
  const { builder } = context;
  const [, k] = a.shape.slice(-2) as [number, number];
  const kb = right.shape.at(-2)!;
  const batch = broadcastShapes([a.shape.slice(0, -2), right.shape.slice(0, -2)]);
  if (a.dtype !== right.dtype)
    return context.fail(`its factors are of ${dtypeName(a.dtype)} and ${dtypeName(right.dtype)}: cast one of them`);
  if (k !== kb || batch === undefined)
    return context.fail(`shapes [${a.shape.join()}] and [${right.shape.join()}] do not multiply`);
  builder.plain(a);
  // Committed transposed, [..., N, K]: a reduction then reads neighbours.
  const rank = right.shape.length;
  const b = builder.weights(right, [...identityOrder(rank - 2), rank - 1, rank - 2]);
  builder.plain(b);
  const rows = { tensor: a, order: identityOrder(a.shape.length) };
  const columns = {
    tensor: b,
    order: [...identityOrder(b.shape.length - 2), b.shape.length - 1, b.shape.length - 2],
  };
  return withLocality(builder, [rows, columns], (x, y) => dot(builder, x, y, batch));
}

function dot(builder: ProgramBuilder, a: LazyTensor, b: LazyTensor, batch: readonly number[]): LazyTensor {
  const e = builder.expressions;
  const [left, right] = [builder.plain(a), builder.plain(b)];
  const [m, k] = a.shape.slice(-2) as [number, number];
  const n = b.shape.at(-1)!;
  const shape = [...batch, m, n];
  const digits = plainDigits(shape);
  const indices = dimensionIndices(digits);
  const radix = radixOf(digits, [k]);
  const batchIndices = (own: readonly number[]): Affine[] =>
    own.slice(0, -2).map((dim, d) => (dim === 1 ? constantAffine(0) : indices[batch.length - (own.length - 2) + d]!));
  const r = digitAffine(REDUCTION_DIGIT);
  const x = readAt(e, left, [...batchIndices(a.shape), indices.at(-2)!, r], radix);
  const y = readAt(e, right, [...batchIndices(b.shape), r, indices.at(-1)!], radix);
  const expr = e.accumulator(Reduce.dot, a.dtype, a.dtype, [k], x, y);
  return { dtype: a.dtype, shape, digits, expr, order: identityOrder(shape.length) };
}

/** MatMul as numpy has it: a vector is a row on the left, a column on the right. */
export const matMul: Lower = (context) => {
  const { builder } = context;
  let [a, b] = [context.input(0), context.input(1)];
  const rowVector = a.shape.length === 1;
  const columnVector = b.shape.length === 1;
  if (a.shape.length === 0 || b.shape.length === 0) return context.fail("an input is a scalar");
  if (rowVector) a = builder.reshape(a, [1, ...a.shape]);
  if (columnVector) b = builder.reshape(b, [...b.shape, 1]);
  const result = matrixProduct(context, a, b);
  if (!rowVector && !columnVector) return [result];
  const shape = [
    ...result.shape.slice(0, -2),
    ...(rowVector ? [] : [result.shape.at(-2)!]),
    ...(columnVector ? [] : [result.shape.at(-1)!]),
  ];
  return [builder.reshape(result, shape)];
};

/** Gemm: `alpha * dot`, then `+ beta * C`, each product and sum rounded; factors of 1 are left out. */
export const gemm: Lower = (context) => {
  const e = context.expressions;
  // Before opset 7 `broadcast` marks C without full shape; the check that C fits follows below.
  if (context.opset < 7) context.ignore("broadcast");
  let [a, b] = [context.input(0), context.input(1)];
  if (a.shape.length !== 2 || b.shape.length !== 2) return context.fail("its factors are not matrices");
  if (context.int("transA", 0) !== 0) a = transposed(e, a, [1, 0]);
  if (context.int("transB", 0) !== 0) b = transposed(e, b, [1, 0]);
  const alpha = context.float("alpha", 1);
  const beta = context.float("beta", 1);
  if ((alpha !== 1 || beta !== 1) && !isFloat(a.dtype)) return context.refuse("alpha", "scales integers");
  let result = matrixProduct(context, a, b);
  if (alpha !== 1) result = broadcast(context, [result], (x) => e.mul(e.like(x, alpha), x));
  const c = context.optional(2);
  if (c === undefined) return [result];
  const scaled = beta === 1 ? c : broadcast(context, [c], (x) => e.mul(e.like(x, beta), x));
  const sum = broadcast(context, [result, scaled], e.add);
  if (sum.shape.join() !== result.shape.join())
    return context.fail(`C of shape [${c.shape.join()}] does not broadcast to the product`);
  return [sum];
};
