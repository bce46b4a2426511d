import { floatTensor } from "../../../onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import type { Expr } from "../../expressions/expression.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { transposed } from "../../steps/views.ts";
import { matrixProduct } from "../matmul.ts";
import { dropAxes, reduceAxes } from "../reduction.ts";
import { binary, featureRows, intLabels, labelsAt, winners, withBase } from "./ensembles.ts";
import { readTransform, transformed } from "./postTransform.ts";

/** Features [N, C] times rows of coefficients, [N, rows]: exact dots, rounded once. */
function products(context: NodeContext, x: LazyTensor, rows: number, coefficients: readonly number[]): LazyTensor {
  const { builder, expressions: e } = context;
  const columns = x.shape[1]!;
  if (rows < 1 || coefficients.length !== rows * columns)
    return context.fail(`${coefficients.length} coefficients for ${rows} rows of ${columns} features`);
  const table = builder.constant(floatTensor(coefficients, [rows, columns]));
  const sums = matrixProduct(context, x, transposed(e, table, [1, 0]));
  builder.realise(sums);
  return sums;
}

/** LinearRegressor: RN(RN(dot) + intercept), then the post transform. */
export const linearRegressor: Lower = (context) => {
  const targets = context.int("targets", 1);
  const transform = readTransform(context);
  const coefficients = context.floats("coefficients") ?? context.fail("coefficients is missing");
  const scores = products(context, featureRows(context), targets, coefficients);
  return [transformed(context, withBase(context, scores, context.floats("intercepts") ?? []), transform)];
};

/** LinearClassifier: a score for each class, or one for two classes; the class of the greatest. */
export const linearClassifier: Lower = (context) => {
  const labels = intLabels(context, "classlabels_ints");
  const transform = readTransform(context);
  // Which trainer made it; all scores are given in either case.
  context.ignore("multi_class");
  const coefficients = context.floats("coefficients") ?? context.fail("coefficients is missing");
  const intercepts = context.floats("intercepts") ?? [];
  const x = featureRows(context);
  const rows = coefficients.length / x.shape[1]!;
  if (!Number.isInteger(rows)) return context.fail(`${coefficients.length} coefficients for [${x.shape.join()}]`);
  const scores = withBase(context, products(context, x, rows, coefficients), intercepts);
  if (rows === 1 && labels.length === 2) return binary(context, scores, labels, false, transform);
  if (rows !== labels.length) return context.fail(`${rows} scores for ${labels.length} labels`);
  context.builder.realise(scores);
  return [labelsAt(context, labels, winners(context, scores)), transformed(context, scores, transform)];
};

/** The kernel of rows of x with support vectors: [rows, vectors]. */
function kernel(context: NodeContext, x: LazyTensor, count: number, vectors: readonly number[]): LazyTensor {
  const { builder, expressions: e } = context;
  const [gamma = 0, coefficient = 0, degree = 0] = context.floats("kernel_params") ?? [];
  const type = context.string("kernel_type", "LINEAR");
  if (type === "RBF") {
    const columns = x.shape[1]!;
    if (vectors.length !== count * columns) return context.fail(`${vectors.length} numbers of support vectors`);
    const row = builder.reshape(x, [x.shape[0]!, 1, columns]);
    const table = builder.constant(floatTensor(vectors, [1, count, columns]));
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

/** SVMRegressor: RN(RN(dot of coefficients and kernels) + rho). Without support vectors it is linear. */
export const svmRegressor: Lower = (context) => {
  const { builder } = context;
  const transform = readTransform(context);
  const count = context.int("n_supports", 0);
  const coefficients = context.floats("coefficients") ?? context.fail("coefficients is missing");
  const vectors = context.floats("support_vectors") ?? [];
  const rho = context.floats("rho") ?? [];
  if (context.int("one_class", 0) !== 0) return context.refuse("one_class", "is not executed");
  const x = featureRows(context);
  if (rho.length !== 1) return context.fail(`rho has ${rho.length} values`);
  let features = x;
  if (count > 0) {
    features = kernel(context, x, count, vectors);
    builder.realise(features);
  } else context.ignore("kernel_type", "kernel_params");
  const sums = products(context, features, 1, coefficients);
  return [transformed(context, withBase(context, sums, rho), transform)];
};
