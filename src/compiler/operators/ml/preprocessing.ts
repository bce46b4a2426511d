import {
  DType,
  dtypeBytes,
  dtypeName,
  isFloat,
  readWord,
  writeWord,
  type DType as DTypeCode,
  type Word,
} from "../../../numerics/dtype.ts";
import { floatWord, greatestWord, minWord, numberWord } from "../../../numerics/numbers.ts";
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
import { inFloat32, inFloats } from "./ensembles.ts";

/** A constant [words] of a type. */
function listOf(context: NodeContext, dtype: DTypeCode, words: readonly Word[], shape = [words.length]): LazyTensor {
  const bytes = new Uint8Array(words.length * dtypeBytes(dtype));
  words.forEach((word, i) => writeWord(bytes, i, dtype, word));
  return context.builder.constant({ dtype, shape, bytes });
}

/** A list of words along a tensor's last dimension, a word for all columns or a word per column. */
function alongLast(context: NodeContext, x: LazyTensor, values: readonly Word[], name: string): LazyTensor {
  const columns = x.shape.at(-1) ?? 1;
  if (values.length !== 1 && values.length !== columns)
    return context.fail(`${values.length} values of ${name} for ${columns} columns`);
  return listOf(context, x.dtype, values, values.length === 1 ? [] : [columns]);
}

/** Scaler: RN(RN(x - offset) * scale), of float64 in float64, else in float32; the result is float32. */
export const scaler: Lower = (context) => {
  const e = context.expressions;
  const x = inFloats(context, context.input(0));
  const column = (name: string, otherwise: number): LazyTensor => {
    const values = context.floats(name) ?? [otherwise];
    return alongLast(
      context,
      x,
      values.map((value) => numberWord(value, x.dtype)),
      name,
    );
  };
  const scaled = broadcast(context, [x, column("offset", 0), column("scale", 1)], (v, o, s) => e.mul(e.sub(v, o), s));
  return [inFloat32(context, scaled)];
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
  // Either list may be there beside that of the input's type.
  const [floats, ints] = [context.floats("imputed_value_floats"), context.integers("imputed_value_int64s")];
  if (!isFloat(x.dtype)) (ints ?? []).forEach((word) => fitting(context, word, x.dtype));
  const float = context.float("replaced_value_float", 0);
  const int = context.integer("replaced_value_int64", 0n);
  const words = isFloat(x.dtype) ? floats?.map((value) => numberWord(value, x.dtype)) : ints;
  const values = words ?? context.fail("it has no values of the input's type");
  const value = alongLast(context, x, values, "imputed values");
  const missing = e.constant(x.dtype, isFloat(x.dtype) ? numberWord(float, x.dtype) : fits(int, x.dtype) ? int : 0n);
  return [
    broadcast(context, [x, value], (v, other) => {
      if (isFloat(x.dtype)) return e.select(Number.isNaN(float) ? e.isNaN(v) : e.eq(v, missing), other, v);
      // No element equals an integer beyond its type.
      return fits(int, x.dtype) ? e.select(e.eq(v, missing), other, v) : v;
    }),
  ];
};

/** Normalizer over the last dimension: x over the greatest x, over the sum of |x|, or over the root of dot(x, x). */
export const normalizer: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = inFloats(context, context.input(0));
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
  const result = broadcast(context, [x, divisor], (v, d) => e.select(e.eq(d, e.float(0)), v, e.div(v, d)));
  return [inFloat32(context, result)];
};

/** FeatureVectorizer: joins the columns from all inputs, in float32. */
export const featureVectorizer: Lower = (context) => {
  const given = context.ints("inputdimensions");
  const parts = context.inputs.map((_, k) => {
    const x = inFloat32(context, context.input(k));
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
  const categories = context.integers("cats_int64s") ?? context.fail("cats_int64s is missing");
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
type Words = { dtype: DTypeCode; words: readonly Word[] };

function encoderList(context: NodeContext, role: "keys" | "values"): Words {
  const ints = context.integers(`${role}_int64s`);
  if (ints !== undefined) return { dtype: DType.int64, words: ints };
  const floats = context.floats(`${role}_floats`);
  if (floats !== undefined) return { dtype: DType.float32, words: floats.map(floatWord) };
  return wordsOf(context, `${role}_tensor`) ?? context.fail(`${role} are missing`);
}

/** The words of a tensor attribute; of no elements, none. */
function wordsOf(context: NodeContext, name: string): Words | undefined {
  const tensor = context.tensor(name);
  if (tensor === undefined) return undefined;
  const { bytes, dtype, shape } = tensor;
  return { dtype, words: context.tabulate(elementCount(shape), (i) => readWord(bytes, i, dtype)) };
}

/** LabelEncoder for numbers: the value for the key equal to x, or the default. The first among equal keys counts. */
export const labelEncoder: Lower = (context) => {
  const { builder, expressions: e } = context;
  refuseTexts(context, "keys_strings", "values_strings", "classes_strings");
  context.ignore("default_string");
  const [keys, values] = [encoderList(context, "keys"), encoderList(context, "values")];
  const x = context.input(0);
  const count = keys.words.length;
  if (count === 0 || count !== values.words.length || x.dtype !== keys.dtype)
    return context.fail(`${count} keys, ${values.words.length} values, and an input of another type`);
  const fallback = defaultOf(context, values.dtype);
  const table = listOf(context, keys.dtype, keys.words);
  builder.realise(x);
  const digits = plainDigits(x.shape);
  const radix = radixOf(digits, [count]);
  const own = readAt(e, builder.plain(x), dimensionIndices(digits), radix);
  const key = readAt(e, builder.plain(table), [digitAffine(REDUCTION_DIGIT)], radix);
  // Keys are compared by their bits.
  const matchesNaN = isFloat(x.dtype);
  const same = (a: typeof own, b: typeof key): ReturnType<typeof e.eq> =>
    matchesNaN ? e.or(e.eq(a, b), e.and(e.isNaN(a), e.isNaN(b))) : e.eq(a, b);
  const expr = e.accumulator(Reduce.argmax, DType.uint8, DType.int64, [count], e.cast(same(own, key), DType.uint8));
  const index: LazyTensor = { dtype: DType.int64, shape: x.shape, digits, expr, order: identityOrder(x.shape.length) };
  builder.realise(index);
  const found = gatherAlong(context, table, index, 0);
  const value = gatherAlong(context, listOf(context, values.dtype, values.words), index, 0);
  const otherwise = context.scalar(values.dtype, fallback);
  return [
    broadcast(
      context,
      [x, found, value, otherwise],
      (v, k, y, none) => e.select(same(v as typeof own, k as typeof key), y, none),
      true,
    ),
  ];
};

/** Whether an integer is one of an integer type. */
const fits = (word: Word, dtype: DTypeCode): boolean => word >= minWord(dtype) && word <= greatestWord(dtype);

const fitting = (context: NodeContext, word: Word, dtype: DTypeCode): Word =>
  fits(word, dtype) ? word : context.fail(`${word} is beyond ${dtypeName(dtype)}`);

/** The word for what is no key. */
function defaultOf(context: NodeContext, dtype: DTypeCode): Word {
  const tensor = wordsOf(context, "default_tensor");
  const [int, float] = [context.integer("default_int64", -1n), context.float("default_float", 0)];
  const [word] = tensor?.words ?? [];
  if (word === undefined) return isFloat(dtype) ? numberWord(float, dtype) : fitting(context, int, dtype);
  return tensor?.dtype === dtype ? word : context.fail("default_tensor is of another type than the values");
}
