import { DType, dtypeBytes, isFloat, writeWord, type DType as DTypeCode } from "../../../numerics/dtype.ts";
import { numberWord } from "../../../numerics/numbers.ts";
import { elementCount } from "../../../model/onnx/model.ts";
import { int64Tensor } from "../../../model/onnx/tensorData.ts";
import { Reduce } from "../../../program/types.ts";
import { digitAffine } from "../../expressions/affine.ts";
import { REDUCTION_DIGIT } from "../../expressions/expression.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../../expressions/tensor.ts";
import { broadcast } from "../../lowering/broadcast.ts";
import { concatenate } from "../../lowering/concatenate.ts";
import type { Lower, NodeContext } from "../../lowering/nodeContext.ts";
import { readAt } from "../../steps/views.ts";
import { gatherAlong } from "../gather.ts";
import { reduceAxes } from "../reduction.ts";
import { tensorNumbers } from "./readForest.ts";

/** The input in float32. */
function inFloat32(context: NodeContext, index = 0): LazyTensor {
  const e = context.expressions;
  return broadcast(context, [context.input(index)], (x) => e.cast(x, DType.float32));
}

/** A list of numbers along a tensor's last dimension, a number for all columns or a number per column. */
function alongLast(context: NodeContext, x: LazyTensor, values: readonly number[], name: string): LazyTensor {
  const columns = x.shape.at(-1) ?? 1;
  if (values.length !== 1 && values.length !== columns)
    return context.fail(`${values.length} values of ${name} for ${columns} columns`);
  const shape = values.length === 1 ? [] : [columns];
  const bytes = new Uint8Array(values.length * dtypeBytes(x.dtype));
  values.forEach((value, i) => writeWord(bytes, i, x.dtype, numberWord(value, x.dtype)));
  return context.builder.constant({ dtype: x.dtype, shape, bytes });
}

/** Scaler: RN(RN(x - offset) * scale), float32. */
export const scaler: Lower = (context) => {
  const e = context.expressions;
  const x = inFloat32(context);
  const offset = alongLast(context, x, context.floats("offset") ?? [0], "offset");
  const scale = alongLast(context, x, context.floats("scale") ?? [1], "scale");
  return [broadcast(context, [x, offset, scale], (v, o, s) => e.mul(e.sub(v, o), s))];
};

/** Binarizer: 1 above the threshold, else 0, in the type of the input. */
export const binarizer: Lower = (context) => {
  const e = context.expressions;
  const threshold = context.float("threshold", 0);
  const x = context.input(0);
  if (!isFloat(x.dtype)) return context.refuse("input 0", "is not of floats");
  return [broadcast(context, [x], (v) => e.select(e.lt(e.like(v, threshold), v), e.like(v, 1), e.like(v, 0)))];
};

/** Imputer: replaces NaN, or the number for missing values, by the column's replacement. */
export const imputer: Lower = (context) => {
  const e = context.expressions;
  const x = context.input(0);
  const floats = context.floats("imputed_value_floats");
  const ints = context.ints("imputed_value_int64s");
  const missing = isFloat(x.dtype) ? context.float("replaced_value_float", 0) : context.int("replaced_value_int64", 0);
  context.ignore("replaced_value_float", "replaced_value_int64");
  const values = (isFloat(x.dtype) ? floats : ints) ?? context.fail("it has no values of the input's type");
  const value = alongLast(context, x, values, "imputed values");
  return [
    broadcast(context, [x, value], (v, other) => {
      const isMissing = Number.isNaN(missing) ? e.isNaN(v) : e.eq(v, e.like(v, missing));
      return e.select(isMissing, other, v);
    }),
  ];
};

/** Normalizer over the last dimension: x over the greatest x, over the sum of |x|, or over the root of dot(x, x). */
export const normalizer: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = inFloat32(context);
  const norm = context.string("norm", "MAX");
  const axis = [x.shape.length - 1];
  builder.realise(x);
  const magnitude = (): LazyTensor => {
    if (norm === "MAX") return reduceAxes(builder, x, axis, Reduce.max);
    if (norm === "L1") return reduceAxes(builder, broadcast(context, [x], e.abs), axis, Reduce.sum);
    if (norm === "L2") return broadcast(context, [reduceAxes(builder, x, axis, Reduce.dot)], e.sqrt);
    return context.refuse("norm", `is ${norm}`);
  };
  const divisor = magnitude();
  builder.realise(divisor);
  return [broadcast(context, [x, divisor], (v, d) => e.select(e.eq(d, e.float(0)), v, e.div(v, d)))];
};

/** FeatureVectorizer: joins the columns from all inputs, in float32. */
export const featureVectorizer: Lower = (context) => {
  const given = context.ints("inputdimensions");
  const parts = context.inputs.map((_, k) => {
    const x = inFloat32(context, k);
    const rows = x.shape.length === 1 ? context.builder.reshape(x, [1, ...x.shape]) : x;
    if (given !== undefined && given[k] !== rows.shape[1])
      return context.refuse("inputdimensions", `has ${given[k]} for input ${k} [${x.shape.join()}]`);
    context.builder.realise(rows);
    return rows;
  });
  if (parts.length === 0 || parts.some(({ shape }) => shape.length !== 2 || shape[0] !== parts[0]!.shape[0]))
    return context.fail("its inputs differ in rows");
  return [concatenate(context, parts, 1)];
};

/** ArrayFeatureExtractor: the columns that the second input names. */
export const arrayFeatureExtractor: Lower = (context) => {
  const [x, columns] = [context.input(0), context.input(1)];
  if (x.shape.length === 0) return context.fail("input 0 is a scalar");
  const rows = x.shape.length === 1 ? context.builder.reshape(x, [1, ...x.shape]) : x;
  const list = context.builder.reshape(columns, [elementCount(columns.shape)]);
  return [gatherAlong(context, rows, list, rows.shape.length - 1)];
};

/** OneHotEncoder: a new last dimension, 1 where x is the category. */
export const oneHotEncoder: Lower = (context) => {
  const { builder, expressions: e } = context;
  refuseTexts(context, "cats_strings");
  const categories = context.ints("cats_int64s") ?? context.fail("cats_int64s is missing");
  // Whether an unknown category is an error: here its row has no 1 in either case.
  context.ignore("zeros");
  const x = broadcast(context, [context.input(0)], (v) => e.cast(v, DType.int64));
  const column = builder.reshape(x, [...x.shape, 1]);
  const row = builder.constant(int64Tensor(categories));
  return [broadcast(context, [column, row], (v, c) => e.select(e.eq(v, c), e.float(1), e.float(0)))];
};

function refuseTexts(context: NodeContext, ...names: readonly string[]): void {
  for (const name of names)
    if (context.has(name)) context.refuse(name, "are texts: encode them as integers before the model");
}

/** A LabelEncoder's list of keys or values, with the list's type. */
type Numbers = { dtype: DTypeCode; values: readonly number[] };

function encoderList(context: NodeContext, role: "keys" | "values"): Numbers {
  const ints = context.ints(`${role}_int64s`);
  if (ints !== undefined) return { dtype: DType.int64, values: ints };
  const floats = context.floats(`${role}_floats`);
  if (floats !== undefined) return { dtype: DType.float32, values: floats };
  const tensor = context.tensor(`${role}_tensor`);
  const values = tensorNumbers(tensor);
  if (tensor === undefined || values === undefined) return context.fail(`${role} are missing`);
  return { dtype: tensor.dtype, values };
}

/** LabelEncoder for numbers: the value for the key equal to x, or the default. The first among equal keys counts. */
export const labelEncoder: Lower = (context) => {
  const { builder, expressions: e } = context;
  refuseTexts(context, "keys_strings", "values_strings", "classes_strings");
  context.ignore("default_string");
  const [keys, values] = [encoderList(context, "keys"), encoderList(context, "values")];
  const x = context.input(0);
  const count = keys.values.length;
  if (count === 0 || count !== values.values.length || x.dtype !== keys.dtype)
    return context.fail(`${count} keys, ${values.values.length} values, and an input of another type`);
  const fallback = defaultOf(context, values.dtype);
  const constant = ({ dtype, values: list }: Numbers): LazyTensor => {
    const bytes = new Uint8Array(list.length * dtypeBytes(dtype));
    list.forEach((value, i) => writeWord(bytes, i, dtype, numberWord(value, dtype)));
    return builder.constant({ dtype, shape: [list.length], bytes });
  };
  const table = constant(keys);
  builder.realise(x);
  const digits = plainDigits(x.shape);
  const radix = radixOf(digits, [count]);
  const own = readAt(e, builder.plain(x), dimensionIndices(digits), radix);
  const key = readAt(e, builder.plain(table), [digitAffine(REDUCTION_DIGIT)], radix);
  // Before version 4 no key is NaN.
  const matchesNaN = isFloat(x.dtype) && context.opset >= 4;
  const same = (a: typeof own, b: typeof key): ReturnType<typeof e.eq> =>
    matchesNaN ? e.or(e.eq(a, b), e.and(e.isNaN(a), e.isNaN(b))) : e.eq(a, b);
  const expr = e.accumulator(Reduce.argmax, DType.uint8, DType.int64, [count], e.cast(same(own, key), DType.uint8));
  const index: LazyTensor = { dtype: DType.int64, shape: x.shape, digits, expr, order: identityOrder(x.shape.length) };
  builder.realise(index);
  const found = gatherAlong(context, table, index, 0);
  const value = gatherAlong(context, constant(values), index, 0);
  const otherwise = context.scalar(values.dtype, numberWord(fallback, values.dtype));
  return [
    broadcast(
      context,
      [x, found, value, otherwise],
      (v, k, y, none) => e.select(same(v as typeof own, k as typeof key), y, none),
      true,
    ),
  ];
};

function defaultOf(context: NodeContext, dtype: DTypeCode): number {
  const tensor = tensorNumbers(context.tensor("default_tensor"))?.[0];
  const [int, float] = [context.int("default_int64", -1), context.float("default_float", 0)];
  return tensor ?? (dtype === DType.int64 ? int : float);
}
