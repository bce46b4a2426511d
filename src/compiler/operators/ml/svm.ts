import { DType } from "../../../numerics/dtype.ts";
import { int64Tensor, numberTensor } from "../../../model/onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { dropAxes, reduceAxes } from "../reduction.ts";
import { coupledProbabilities } from "./coupling.ts";
import { featureRows, inFloat32, intLabels, labelsAt, winners, withBase } from "./ensembles.ts";
import { products } from "./linear.ts";
import { readTransform, transformed } from "./postTransform.ts";

/** Returns the kernel between rows of x and support vectors: [rows, vectors]. */
function kernel(context: NodeContext, x: LazyTensor, count: number, vectors: readonly number[]): LazyTensor {
  const { builder, expressions: e } = context;
  const [gamma = 0, coefficient = 0, degree = 0] = context.floats("kernel_params") ?? [];
  const type = context.string("kernel_type", "LINEAR");
  if (type === "RBF") {
    const columns = x.shape[1]!;
    if (vectors.length !== count * columns) return context.fail(`${vectors.length} numbers of support vectors`);
    const row = builder.reshape(x, [x.shape[0]!, 1, columns]);
    const table = builder.constant(numberTensor(x.dtype, vectors, [1, count, columns]));
    const differences = broadcast(context, [row, table], e.sub);
    builder.realise(differences);
    const squares = dropAxes(builder, reduceAxes(builder, differences, [2], Reduce.dot), [2]);
    return broadcast(context, [squares], (d) => e.exp(e.mul(d, e.float(-gamma))));
  }
  const dots = products(context, x, count, vectors);
  const inner = (v: Expr): Expr => e.add(e.mul(v, e.float(gamma)), e.float(coefficient));
  if (type === "LINEAR") return dots;
  if (type === "POLY") return broadcast(context, [dots], (v) => e.pow(inner(v), e.float(degree)));
  if (type === "SIGMOID") return broadcast(context, [dots], (v) => e.tanh(inner(v)));
  return context.refuse("kernel_type", `is ${type}`);
}

/**
 * SVMRegressor: RN(RN(dot of coefficients and kernels) + rho), or (`one_class`) 1 if the sum is above 0, else -1.
 * Without support vectors the regressor is linear.
 */
export const svmRegressor: Lower = (context) => {
  const { builder, expressions: e } = context;
  const transform = readTransform(context);
  const count = context.int("n_supports", 0);
  const coefficients = context.floats("coefficients") ?? context.fail("coefficients is missing");
  const vectors = context.floats("support_vectors") ?? [];
  const rho = context.floats("rho") ?? [];
  const isOneClass = context.int("one_class", 0) !== 0;
  if (isOneClass && transform !== "NONE") return context.refuse("post_transform", `is ${transform} of one class`);
  const x = featureRows(context);
  if (rho.length !== 1) return context.fail(`rho has ${rho.length} values`);
  let features = x;
  if (count > 0) {
    features = kernel(context, x, count, vectors);
    builder.realise(features);
  } else context.ignore("kernel_type", "kernel_params");
  const sums = withBase(context, products(context, features, 1, coefficients), rho);
  if (!isOneClass) return [inFloat32(context, transformed(context, sums, transform))];
  return [broadcast(context, [sums], (s) => e.select(e.lt(e.like(s, 0), s), e.float(1), e.float(-1)))];
};

/** The pairs of classes i < j, in the order in which their scores lie. */
const pairsOf = (classes: number): [number, number][] =>
  Array.from({ length: classes }, (_, i) => i).flatMap((i) =>
    Array.from({ length: classes - i - 1 }, (_, k): [number, number] => [i, i + 1 + k]),
  );

/**
 * SVMClassifier: a score per pair of classes votes for a class; the class with the greatest vote count, the first among
 * equals, gives the label. The output scores are the pairs' scores, or with `prob_a` and `prob_b` class probabilities.
 * Without support vectors the classifier is linear: a score for each class.
 */
export const svmClassifier: Lower = (context) => {
  const labels = intLabels(context, "classlabels_ints");
  if (labels.length < 2) return context.fail(`${labels.length} labels: expected 2 or more`);
  const x = featureRows(context);
  const perClass = context.ints("vectors_per_class") ?? [];
  const count = perClass.reduce((sum, each) => sum + each, 0);
  const [label, scores] = count > 0 ? pairwise(context, x, labels, perClass, count) : linear(context, x, labels);
  return [label!, inFloat32(context, scores!)];
};

function pairwise(
  context: NodeContext,
  x: LazyTensor,
  labels: readonly bigint[],
  perClass: readonly number[],
  count: number,
): LazyTensor[] {
  const { builder, expressions: e } = context;
  const classes = labels.length;
  const pairs = pairsOf(classes);
  const transform = readTransform(context);
  const [coefficients, rho] = [context.floats("coefficients") ?? [], context.floats("rho") ?? []];
  const [a, b] = [context.floats("prob_a") ?? [], context.floats("prob_b") ?? []];
  const expected = { coefficients: (classes - 1) * count, rho: pairs.length };
  for (const [name, list] of Object.entries({ coefficients, rho }))
    if (list.length !== expected[name as keyof typeof expected])
      return context.fail(`${name} has ${list.length} values for ${classes} classes and ${count} support vectors`);
  if (perClass.length !== classes || perClass.some((each) => each < 0))
    return context.fail(`vectors_per_class names ${perClass.length} classes of ${classes}`);
  if (a.length !== b.length || (a.length > 0 && a.length !== pairs.length))
    return context.fail(`prob_a and prob_b have ${a.length} and ${b.length} values for ${pairs.length} pairs`);

  const kernels = kernel(context, x, count, context.floats("support_vectors") ?? []);
  builder.realise(kernels);
  const scores = withBase(
    context,
    products(context, kernels, pairs.length, pairRows(pairs, perClass, coefficients)),
    rho,
  );
  builder.realise(scores);
  const label = labelsAt(context, labels, winners(context, votes(context, scores, pairs, classes)));
  if (a.length > 0) {
    const row = (values: readonly number[]): LazyTensor =>
      builder.constant(numberTensor(x.dtype, values, [1, pairs.length]));
    const [min, max] = [e.float(1e-7), e.float(1 - 1e-7)];
    const probabilities = broadcast(context, [scores, row(a), row(b)], (s, m, c) =>
      e.min(e.max(e.sub(e.float(1), e.sigmoid(e.add(e.mul(s, m), c))), min), max),
    );
    builder.realise(probabilities);
    return [label, transformed(context, coupledProbabilities(context, probabilities, pairs, classes), transform)];
  }
  if (classes > 2) return [label, transformed(context, scores, transform)];
  // For two classes with one score, onnxruntime takes a softmax to mean: the score is a probability.
  const isProbability = transform !== "NONE" && transform !== "LOGISTIC";
  const other = broadcast(context, [scores], (s) => (isProbability ? e.sub(e.like(s, 1), s) : e.neg(s)));
  const both = concatenate(context, [other, scores], 1);
  return [label, transform === "LOGISTIC" ? transformed(context, both, transform) : both];
}

/** The coefficients by pair and support vector: of the vectors of both its classes; those of others are 0. */
function pairRows(
  pairs: readonly [number, number][],
  perClass: readonly number[],
  coefficients: readonly number[],
): number[] {
  const classOf = perClass.flatMap((size, k) => new Array<number>(size).fill(k));
  const count = classOf.length;
  return pairs.flatMap(([i, j]) =>
    classOf.map((own, v) => {
      if (own === i) return coefficients[(j - 1) * count + v]!;
      return own === j ? coefficients[i * count + v]! : 0;
    }),
  );
}

/**
 * Counts the pairs that vote for each class: a pair votes for the first class if the score is above 0, else for the
 * second. [rows, classes]
 */
function votes(
  context: NodeContext,
  scores: LazyTensor,
  pairs: readonly [number, number][],
  classes: number,
): LazyTensor {
  const { builder, expressions: e } = context;
  const [rows] = scores.shape as [number];
  const table = (member: 0 | 1): LazyTensor =>
    builder.constant(
      int64Tensor(
        pairs.flatMap((pair) => Array.from({ length: classes }, (_, k) => Number(pair[member] === k))),
        [1, pairs.length, classes],
      ),
    );
  const each = broadcast(
    context,
    [builder.reshape(scores, [rows, pairs.length, 1]), table(0), table(1)],
    (s, first, second) => e.select(e.lt(e.like(s, 0), s), first, second),
    true,
  );
  builder.realise(each);
  const sums = dropAxes(builder, reduceAxes(builder, each, [1], Reduce.sum), [1]);
  builder.realise(sums);
  return sums;
}

/** Without support vectors: a score for each class, all with the first of `rho`. */
function linear(context: NodeContext, x: LazyTensor, labels: readonly bigint[]): LazyTensor[] {
  const { builder, expressions: e } = context;
  const transform = readTransform(context);
  context.ignore("kernel_type", "kernel_params", "vectors_per_class", "support_vectors", "prob_a", "prob_b");
  const coefficients = context.floats("coefficients") ?? context.fail("coefficients is missing");
  const [rho] = context.floats("rho") ?? [];
  if (rho === undefined) return context.fail("rho is missing");
  const classes = labels.length;
  const sums = products(context, x, classes, coefficients);
  const scores = withBase(context, sums, new Array<number>(classes).fill(rho));
  builder.realise(scores);
  let index = winners(context, scores);
  if (classes === 2 && (context.floats("prob_a") ?? []).length === 0) {
    // As onnxruntime has it: a greatest score above the threshold names the second class, whichever score it is.
    const isPositive = coefficients.every((value) => value >= 0);
    const max = dropAxes(builder, reduceAxes(builder, scores, [1], Reduce.max), [1]);
    index = broadcast(
      context,
      [max, index],
      (s, at) => {
        const passes = isPositive ? e.le(e.like(s, 0.5), s) : e.lt(e.like(s, 0), s);
        return e.select(passes, e.constant(DType.int64, 1n), at);
      },
      true,
    );
    builder.realise(index);
  }
  return [labelsAt(context, labels, index), transformed(context, scores, transform)];
}
