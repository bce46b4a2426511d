import { DType } from "../../../numerics/dtype.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import type { Backward, Rule } from "../backward.ts";

/** Operators of ai.onnx.ml on numbers, each written in ai.onnx operators. */

const inFloat32 = (b: Backward, x: string, dtype: DType): string =>
  dtype === DType.float32 ? x : b.opWith("Cast", { to: DType.float32 }, x);

/** The type that an operator computes in. */
const typeOf = (b: Backward): DType => (b.dtype(0) === DType.float64 ? DType.float64 : DType.float32);

/** The first input in that type. */
const inFloats = (b: Backward): string => (b.dtype(0) === DType.float64 ? b.x() : inFloat32(b, b.x(), b.dtype(0)));

/** A list along the last dimension: one number for all, or one for each. */
const list = (b: Backward, values: readonly number[]): string =>
  b.tensor(values, values.length === 1 ? [] : [values.length], typeOf(b));

export const scaler: Rule = (b) => {
  const [offset, scale] = [b.attributes.floats("offset") ?? [0], b.attributes.floats("scale") ?? [1]];
  return [inFloat32(b, b.mul(b.sub(inFloats(b), list(b, offset)), list(b, scale)), typeOf(b))];
};

/** Missing values have no gradient. */
export const imputer: Rule = (b) => {
  const missing = b.attributes.float("replaced_value_float", 0);
  const isMissing = Number.isNaN(missing) ? b.op("IsNaN", b.x()) : b.op("Equal", b.x(), b.f(missing));
  return [b.where(isMissing, b.f(0), b.dy)];
};

export const normalizer: Rule = (b) => {
  const [x, axis, norm] = [inFloats(b), b.shape().length - 1, b.attributes.string("norm", "MAX")];
  const over = (operator: string): string => b.opWith(operator, { keepdims: 1 }, x, b.integers(axis));
  const size = over(norm === "MAX" ? "ReduceMax" : norm === "L1" ? "ReduceL1" : "ReduceSumSquare");
  const isZero = b.op("Equal", size, b.f(0, typeOf(b)));
  const safe = b.where(isZero, b.f(1, typeOf(b)), size);
  return [inFloat32(b, b.div(x, norm === "L2" ? b.op("Sqrt", safe) : safe), typeOf(b))];
};

export const featureVectorizer: Rule = (b) => {
  const parts = b.node.inputs.map((_, k) => {
    const rows = b.shape(k).length === 1 ? [1, ...b.shape(k)] : b.shape(k);
    return b.reshape(inFloat32(b, b.x(k), b.dtype(k)), b.shape(k), rows);
  });
  return [b.opWith("Concat", { axis: 1 }, ...parts)];
};

export const arrayFeatureExtractor: Rule = (b) => {
  const rows = b.shape().length === 1 ? [1, ...b.shape()] : b.shape();
  const columns = b.shaped(b.x(1), [elementCount(b.shape(1))]);
  return [b.opWith("Gather", { axis: rows.length - 1 }, b.reshape(b.x(), b.shape(), rows), columns)];
};

/** Rows of coefficients, which are attributes: they are no weights that could be trained. */
export const linearRegressor: Rule = (b) => {
  const coefficients = b.attributes.floats("coefficients") ?? [];
  const targets = b.attributes.int("targets", 1);
  const columns = coefficients.length / targets;
  const x = b.reshape(inFloats(b), b.shape(), b.shape().length === 1 ? [1, ...b.shape()] : b.shape());
  const weights = b.transpose(b.tensor(coefficients, [targets, columns], typeOf(b)), [1, 0]);
  const intercepts = b.attributes.floats("intercepts") ?? [];
  const product = b.op("MatMul", x, weights);
  const scores = intercepts.length === 0 ? product : b.add(product, b.tensor(intercepts, [1, targets], typeOf(b)));
  const result = (y: string): string[] => [inFloat32(b, y, typeOf(b))];
  switch (b.attributes.string("post_transform", "NONE")) {
    case "NONE":
      return result(scores);
    case "LOGISTIC":
      return result(b.op("Sigmoid", scores));
    case "SOFTMAX":
      return result(b.opWith("Softmax", { axis: 1 }, scores));
    default:
      return b.refuse("has no gradient rule with post_transform SOFTMAX_ZERO");
  }
};
