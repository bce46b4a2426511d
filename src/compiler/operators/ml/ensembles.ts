import { DType } from "../../../numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../../model/onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { slicedAlong } from "../../lowering/slices.ts";
import { gatherAlong } from "../gather.ts";
import { dropAxes, reduceAxes } from "../reduction.ts";
import { transformed, readTransform, type PostTransform } from "./postTransform.ts";
import { numbersOf, readForest, readForest5 } from "./readForest.ts";
import { aggregated, AGGREGATES, rangeOf, type Aggregate, type Forest } from "./trees.ts";

/** The tensor if of float64, else its numbers in float32: what an operator of ai.onnx.ml computes in. */
export const inFloats = (context: NodeContext, x: LazyTensor): LazyTensor =>
  x.dtype === DType.float64 ? x : inFloat32(context, x);

/** Returns the features as float rows [N, C] ({@link inFloats}); one row may lack the row dimension. */
export function featureRows(context: NodeContext): LazyTensor {
  const given = context.input(0);
  const rank = given.shape.length;
  if (rank < 1 || rank > 2) return context.fail(`features of shape [${given.shape.join()}]`);
  const floats = inFloats(context, given);
  return rank === 2 ? floats : context.builder.reshape(floats, [1, ...floats.shape]);
}

/** Adds a number for each target to [rows, targets]; one that is missing is 0. */
export function withBase(context: NodeContext, sums: LazyTensor, base: readonly number[]): LazyTensor {
  if (base.every((value) => value === 0)) return sums;
  const targets = sums.shape[1]!;
  if (base.length !== targets) return context.fail(`${base.length} base values for ${targets} targets`);
  const { builder, expressions: e } = context;
  const row = builder.constant(floatTensor(base, [1, targets]));
  return broadcast(context, [sums, row], (a, b) => e.add(a, e.cast(b, a.dtype)), true);
}

/** The tensor rounded to float32. */
export const inFloat32 = (context: NodeContext, x: LazyTensor): LazyTensor =>
  x.dtype === DType.float32 ? x : broadcast(context, [x], (v) => context.expressions.cast(v, DType.float32));

function aggregateOf(context: NodeContext): Aggregate {
  const name = context.string("aggregate_function", "SUM");
  return AGGREGATES.find((known) => known === name) ?? context.refuse("aggregate_function", `is ${name}`);
}

/** TreeEnsembleRegressor: the aggregate of the leaves of all trees, with the base values, then the post transform. */
export const treeEnsembleRegressor: Lower = (context) => {
  const targets = context.int("n_targets", 1);
  if (!(targets >= 1)) return context.fail(`${targets} targets`);
  const transform = readTransform(context);
  const forest = readForest(context, "target", targets);
  const sums = aggregated(context, featureRows(context), forest, aggregateOf(context));
  const scores = withBase(context, sums, numbersOf(context, "base_values") ?? []);
  return [inFloat32(context, transformed(context, scores, transform))];
};

/** TreeEnsemble of version 5: the same in its other form. */
export const treeEnsemble: Lower = (context) => {
  const targets = context.int("n_targets", 1);
  if (!(targets >= 1)) return context.fail(`${targets} targets`);
  const names: readonly Aggregate[] = ["AVERAGE", "SUM", "MIN", "MAX"];
  const number = context.int("aggregate_function", 1);
  const aggregate = names[number] ?? context.refuse("aggregate_function", `is ${number}`);
  const transforms: readonly PostTransform[] = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"];
  const post = context.int("post_transform", 0);
  const transform = transforms[post] ?? context.refuse("post_transform", `is ${post}`);
  const x = featureRows(context);
  const sums = aggregated(context, x, readForest5(context, targets), aggregate);
  return [transformed(context, sums, transform)];
};

/** Returns a classifier's labels, which must be integers. */
export function intLabels(context: NodeContext, ...names: readonly string[]): readonly bigint[] {
  for (const name of ["classlabels_strings", "classlabels_string"])
    if ((context.strings(name) ?? []).length > 0)
      context.refuse(name, "are texts: export the model with integer labels, and name the classes outside");
  for (const name of names) {
    const labels = context.integers(name);
    if (labels !== undefined) return labels;
  }
  return context.fail(`${names[0]} is missing`);
}

/** The labels at indices of [rows]: int64. */
export function labelsAt(context: NodeContext, labels: readonly bigint[], index: LazyTensor): LazyTensor {
  const isIndex = labels.every((label, k) => label === BigInt(k));
  if (isIndex) return index;
  return gatherAlong(context, context.builder.constant(int64Tensor(labels)), index, 0);
}

/** Returns, for each row, the index of the greatest score, the first among equal scores. */
export function winners(context: NodeContext, scores: LazyTensor): LazyTensor {
  const { builder } = context;
  builder.plain(scores);
  const index = dropAxes(builder, reduceAxes(builder, scores, [1], Reduce.argmax), [1]);
  builder.realise(index);
  return index;
}

/**
 * Two classes from one score: label 1 if the score is above the threshold. The classes' scores are 1 - s and s if s is
 * a probability, else -s and s; the post transform applies to -s and s.
 */
export function binary(
  context: NodeContext,
  score: LazyTensor,
  labels: readonly bigint[],
  transform: PostTransform | "PROBABILITY",
): LazyTensor[] {
  const { builder, expressions: e } = context;
  const isProbability = transform === "PROBABILITY";
  builder.realise(score);
  const index = broadcast(context, [builder.reshape(score, [score.shape[0]!])], (s) =>
    e.cast(e.lt(e.like(s, isProbability ? 0.5 : 0), s), DType.int64),
  );
  builder.realise(index);
  const other = broadcast(context, [score], (s) => (isProbability ? e.sub(e.like(s, 1), s) : e.neg(s)));
  const both = concatenate(context, [other, score], 1);
  const scores = isProbability ? both : transformed(context, both, transform);
  return [labelsAt(context, labels, index), inFloat32(context, scores)];
}

/**
 * Two classes, but the trees weigh only a single class. ONNX's reference and onnxruntime agree on two forms: without a
 * post transform, if no weight is negative (the score is a probability), and with LOGISTIC. All others are refused.
 */
function twoClasses(
  context: NodeContext,
  forest: Forest,
  sums: LazyTensor,
  labels: readonly bigint[],
  transform: PostTransform,
): LazyTensor[] {
  const base = numbersOf(context, "base_values") ?? [];
  if (base.length > 1) return context.refuse("base_values", `are ${base.length} of two classes with one score`);
  const differ = "ONNX's reference and onnxruntime compute";
  if (context.ints("class_ids")![0] !== 0)
    return context.refuse("class_ids", `are all 1 of two classes, where ${differ} other scores: let all be 0`);
  const isPositive = numbersOf(context, "class_weights")!.every((weight) => weight >= 0);
  const advice = "use LOGISTIC, or TreeEnsembleRegressor and other operators behind";
  if (transform === "SOFTMAX" || transform === "SOFTMAX_ZERO")
    return context.refuse("post_transform", `is ${transform} of two classes, where ${differ} other scores: ${advice}`);
  if (transform === "NONE" && !isPositive)
    return context.refuse("post_transform", `is NONE of negative weights, where ${differ} other scores: ${advice}`);
  if (transform === "LOGISTIC" && isPositive) {
    // The reference gives the label of the greater probability, onnxruntime that of s > 0.5.
    const [low, high] = rangeOf(forest, 0, base[0] ?? 0);
    if (high > 0 && Math.fround(low) <= 0.5)
      return context.refuse(
        "class_weights",
        `are all positive before LOGISTIC, where ${differ} other labels: ${advice}`,
      );
  }
  const score = withBase(context, slicedAlong(context, sums, 1, 0, 1), base);
  return binary(context, score, labels, transform === "NONE" ? "PROBABILITY" : transform);
}

/** TreeEnsembleClassifier: the class of the greatest sum, and the sums after the post transform. */
export const treeEnsembleClassifier: Lower = (context) => {
  const labels = intLabels(context, "classlabels_int64s");
  const transform = readTransform(context);
  const ids = context.ints("class_ids") ?? context.fail("class_ids is missing");
  if (labels.length < 2) return context.refuse("classlabels_int64s", `has ${labels.length} labels: give 2 or more`);
  const x = featureRows(context);
  const forest = readForest(context, "class", labels.length);
  const sums = aggregated(context, x, forest, "SUM");
  if (labels.length === 2 && new Set(ids).size === 1) return twoClasses(context, forest, sums, labels, transform);
  if (labels.length === 2)
    return context.refuse("class_ids", "name both of two classes: give weights of one class only");
  const scores = withBase(context, sums, numbersOf(context, "base_values") ?? []);
  context.builder.realise(scores);
  const label = labelsAt(context, labels, winners(context, scores));
  return [label, inFloat32(context, transformed(context, scores, transform))];
};
