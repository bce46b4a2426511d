import { elementCount } from "../../model/onnx/model.ts";
import { addAffine, constantAffine } from "../expressions/affine.ts";
import type { Expr } from "../expressions/expression.ts";
import { dimensionIndices, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import type { NodeContext } from "./nodeContext.ts";

/** A step has at most 16 reads: longer lists are joined level by level. */
const MAX_READS = 12;

/** Joins tensors with equal type and shape (except along `axis`), in order. */
export function concatenate(context: NodeContext, all: readonly LazyTensor[], axis: number): LazyTensor {
  const inputs = all.filter((input) => elementCount(input.shape) > 0);
  if (inputs.length === 0) {
    const { dtype, shape } = all[0]!;
    const length = all.reduce((sum, input) => sum + input.shape[axis]!, 0);
    return context.builder.filled(
      dtype,
      shape.map((dim, d) => (d === axis ? length : dim)),
      0n,
    );
  }
  const [first] = inputs;
  for (const { shape } of inputs)
    if (shape.length !== first!.shape.length || shape.some((dim, d) => d !== axis && dim !== first!.shape[d]))
      context.fail(`[${first!.shape.join()}] and [${shape.join()}] do not join along dimension ${axis}`);
  let parts = inputs;
  while (parts.length > MAX_READS) {
    const joined: LazyTensor[] = [];
    for (let k = 0; k < parts.length; k += MAX_READS)
      joined.push(concatOf(context, parts.slice(k, k + MAX_READS), axis));
    joined.forEach((part) => context.builder.realise(part));
    parts = joined;
  }
  return concatOf(context, parts, axis);
}

function concatOf(context: NodeContext, inputs: readonly LazyTensor[], axis: number): LazyTensor {
  const { builder, expressions: e } = context;
  const first = inputs[0]!;
  if (inputs.length === 1) return first;
  const shape = first.shape.map((dim, d) =>
    d === axis ? inputs.reduce((sum, input) => sum + input.shape[axis]!, 0) : dim,
  );
  const digits = plainDigits(shape);
  const radix = radixOf(digits);
  const indices = dimensionIndices(digits);
  const position = e.affine(indices[axis]!);
  let start = 0;
  let expr: Expr | undefined;
  const parts = inputs.map((input) => {
    const shifted = indices.map((index, d) => (d === axis ? addAffine(index, constantAffine(-start)) : index));
    start += input.shape[axis]!;
    const value = input.expr.kind === "constant" ? input.expr : readAt(e, builder.plain(input), shifted, radix);
    return { end: start, value };
  });
  for (const { end, value } of parts.toReversed()) {
    const here = e.int64(end);
    expr = expr === undefined ? value : e.select(e.lt(position, here), value, expr);
  }
  const order = inputs.find((input) => input.order.some((dim, d) => dim !== d))?.order ?? first.order;
  const result: LazyTensor = { dtype: first.dtype, shape, digits, expr: expr!, order };
  builder.rememberParts(result, inputs, axis);
  return result;
}
