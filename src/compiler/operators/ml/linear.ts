import { numberTensor } from "../../../model/onnx/tensorData.ts";
import type { LazyTensor } from "../../expressions/tensor.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { transposed } from "../../steps/views.ts";
import { matrixProduct } from "../matmul.ts";
import { binary, featureRows, inFloat32, intLabels, labelsAt, winners, withBase } from "./ensembles.ts";
import { readTransform, transformed } from "./postTransform.ts";

/** Features [N, C] times rows of coefficients, [N, rows]: exact dots, rounded once, in the type of the features. */
export function products(
  context: NodeContext,
  x: LazyTensor,
  rows: number,
  coefficients: readonly number[],
): LazyTensor {
  const { builder, expressions: e } = context;
  const columns = x.shape[1]!;
  if (rows < 1 || coefficients.length !== rows * columns)
    return context.fail(`${coefficients.length} coefficients for ${rows} rows of ${columns} features`);
  const table = builder.constant(numberTensor(x.dtype, coefficients, [rows, columns]));
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
  const sums = withBase(context, scores, context.floats("intercepts") ?? []);
  return [inFloat32(context, transformed(context, sums, transform))];
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
  if (rows === 1 && labels.length === 2) return binary(context, scores, labels, transform);
  if (rows !== labels.length) return context.fail(`${rows} scores for ${labels.length} labels`);
  context.builder.realise(scores);
  const label = labelsAt(context, labels, winners(context, scores));
  return [label, inFloat32(context, transformed(context, scores, transform))];
};
