import { DType } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { Reduce } from "../../program/types.ts";
import type { Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt } from "../steps/views.ts";
import { dropAxes, reduceAxes, softmaxOver } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { readIndirect } from "../lowering/readIndirect.ts";

/** The exact sum of all elements, a scalar. */
function total(context: NodeContext, x: LazyTensor): LazyTensor {
  context.builder.realise(x);
  const axes = identityOrder(x.shape.length);
  return dropAxes(context.builder, reduceAxes(context.builder, x, axes, Reduce.sum), axes);
}

/**
 * Returns the loss for log-probabilities [N, C, d...] at classes `target` [N, d...]: for each position `-log p` at the
 * position's class, times the class's weight; 0 where the class is `ignore_index`. A negative class counts from the
 * end; a class out of range reads 0. The mean divides by the sum of the weights (1 without weights), ignored positions
 * left out.
 */
function negativeLogLikelihood(context: NodeContext, logs: LazyTensor): LazyTensor {
  const { builder, expressions: e } = context;
  const target = context.input(1);
  const weight = context.optional(2);
  const reduction = context.string("reduction", "mean");
  if (!["none", "sum", "mean"].includes(reduction)) context.refuse("reduction", `is ${reduction}`);
  const given = context.has("ignore_index") ? context.integer("ignore_index", 0n) : undefined;
  const expected = [logs.shape[0]!, ...logs.shape.slice(2)];
  if (logs.shape.length < 2 || target.shape.join() !== expected.join())
    context.fail(`classes [${target.shape.join()}] for scores [${logs.shape.join()}]`);
  if (target.dtype !== DType.int32 && target.dtype !== DType.int64) context.fail("the classes are not int32 or int64");
  // No int32 class equals an integer of more bits.
  const ignored = target.dtype === DType.int32 && given !== BigInt.asIntN(32, given ?? 0n) ? undefined : given;
  if (weight !== undefined && weight.shape.join() !== String(logs.shape[1]))
    context.fail(`weights [${weight.shape.join()}] of ${logs.shape[1]} classes`);

  const { shape } = target;
  const digits = plainDigits(shape);
  const indices = dimensionIndices(digits);
  const radix = radixOf(digits);
  const indirect = readAt(e, builder.plain(target), indices, radix);
  const at = (expr: Expr): LazyTensor => ({
    dtype: expr.dtype,
    shape,
    digits,
    expr,
    order: identityOrder(shape.length),
  });
  const isIgnored = ignored === undefined ? undefined : e.eq(indirect, e.constant(target.dtype, ignored));
  const unlessIgnored = (value: Expr): Expr =>
    isIgnored === undefined ? value : e.select(isIgnored, e.float(0), value);

  const [first, ...others] = indices;
  const log = readIndirect(builder, logs, [first!, { indirect }, ...others], radix);
  const own = weight === undefined ? e.float(1) : readIndirect(builder, weight, [{ indirect }], radix);
  const negative = e.neg(log);
  const loss = at(unlessIgnored(weight === undefined ? negative : e.mul(negative, own)));
  if (reduction === "none") return loss;
  const sum = total(context, loss);
  if (reduction === "sum") return sum;
  if (weight === undefined && isIgnored === undefined)
    return broadcast(context, [sum], (s) => e.div(s, e.float(elementCount(shape))));
  const counted = total(context, at(unlessIgnored(own)));
  return broadcast(context, [sum, counted], e.div);
}

/** NegativeLogLikelihoodLoss with its weights, ignore_index and reduction. */
export const negativeLogLikelihoodLoss: Lower = (context) => [negativeLogLikelihood(context, context.floatInput())];

/** SoftmaxCrossEntropyLoss: LogSoftmax over the classes, then the negative log-likelihood; second output the logs. */
export const softmaxCrossEntropyLoss: Lower = (context) => {
  const scores = context.floatInput();
  if (scores.shape.length < 2) return context.fail(`scores of rank ${scores.shape.length}`);
  const logs = softmaxOver(context, scores, [1], true);
  context.builder.realise(logs);
  return [negativeLogLikelihood(context, logs), logs];
};
