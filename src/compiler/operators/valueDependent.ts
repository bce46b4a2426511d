/** Operators with a result shape that depends on values. For values unknown at compile time, the result is bounded. */
import { DType, dtypeBytes, isFloat, writeWord, type Word } from "../../numerics/dtype.ts";
import { elementCount, type TensorData } from "../../model/onnx/model.ts";
import { int64Tensor } from "../../model/onnx/tensorData.ts";
import type { Lower } from "../lowering/nodeContext.ts";
import { wordNumber } from "../../numerics/numbers.ts";
import { boundedCompress, boundedNonZero, boundedUnique } from "./boundedOutputs.ts";
import { gatherAlong } from "./gather.ts";
import { rowMajorStrides } from "../steps/views.ts";

/** NonZero: returns the indices of all elements other than 0, in row-major order, one row for each dimension. */
export const nonZero: Lower = (context) => {
  const x = context.input(0);
  const words = context.builder.words(x);
  if (words === undefined) return boundedNonZero(context, x);
  const positions = words.flatMap((word, i) => (word === 0n ? [] : [i]));
  const shape = x.shape.length === 0 ? [1] : x.shape;
  context.builder.budget.computeElements(positions.length * shape.length);
  const strides = rowMajorStrides(shape);
  const rows = shape.flatMap((dim, d) => positions.map((i) => Math.floor(i / strides[d]!) % dim));
  return [context.builder.constant(int64Tensor(rows, [x.shape.length, positions.length]))];
};

/** Compress: the slices along an axis, or the elements, where the condition is true. */
export const compress: Lower = (context) => {
  const { builder } = context;
  const x = context.input(0);
  const condition = builder.words(context.input(1));
  const flat = !context.has("axis");
  const data = flat ? builder.reshape(x, [elementCount(x.shape)]) : x;
  const axis = flat ? 0 : context.axis(context.int("axis", 0), x.shape.length);
  if (condition === undefined) return boundedCompress(context, data, context.input(1), axis);
  const kept = condition.flatMap((word, i) => (word !== 0n ? [i] : []));
  if (condition.length > data.shape[axis]!)
    return context.fail(`${condition.length} conditions of [${data.shape.join()}]`);
  if (kept.length === 0) {
    const shape = data.shape.map((dim, d) => (d === axis ? 0 : dim));
    return [builder.filled(x.dtype, shape, 0n)];
  }
  return [gatherAlong(context, data, builder.constant(int64Tensor(kept)), axis)];
};

/** The order of two words of a type: ascending, NaN last. */
const compareWords =
  (dtype: DType) =>
  (a: Word, b: Word): number => {
    if (!isFloat(dtype)) return a < b ? -1 : a > b ? 1 : 0;
    const [x, y] = [wordNumber(a, dtype), wordNumber(b, dtype)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x - y;
  };

/**
 * Unique: the distinct elements, or slices along an axis. Further outputs: each distinct element's first place, each
 * element's number among the distinct elements, and each distinct element's count.
 */
export const unique: Lower = (context) => {
  const { builder } = context;
  const x = context.input(0);
  const sorted = context.int("sorted", 1) !== 0;
  const flat = !context.has("axis");
  const known = builder.words(x);
  if (known === undefined && flat) return boundedUnique(context, x, sorted);
  const words = known ?? context.refuse("axis", "is given, and X is not known at compile time");
  const shape = flat ? [words.length] : x.shape;
  const axis = flat ? 0 : context.axis(context.int("axis", 0), shape.length);
  const strides = rowMajorStrides(shape);
  const count = shape[axis]!;
  const parts = Array.from({ length: count }, (): Word[] => []);
  words.forEach((word, i) => parts[Math.floor(i / strides[axis]!) % count]!.push(word));
  const compare = compareWords(x.dtype);
  const firsts: number[] = [];
  const byKey = new Map<string, number>();
  parts.forEach((part, i) => {
    const key = part.join();
    if (byKey.has(key)) return;
    byKey.set(key, i);
    firsts.push(i);
  });
  const order = (a: number, b: number): number => {
    const at = parts[a]!.findIndex((word, k) => compare(word, parts[b]![k]!) !== 0);
    return at < 0 ? 0 : compare(parts[a]![at]!, parts[b]![at]!);
  };
  const kept = sorted ? firsts.toSorted(order) : firsts;
  const number = new Map(kept.map((first, k) => [parts[first]!.join(), k] as const));
  const inverse = parts.map((part) => number.get(part.join())!);
  const counts = kept.map(() => 0);
  for (const k of inverse) counts[k]!++;
  const size = elementCount(shape) / count;
  const outShape = shape.map((dim, d) => (d === axis ? kept.length : dim));
  const outStrides = rowMajorStrides(outShape);
  const bytes = new Uint8Array(kept.length * size * dtypeBytes(x.dtype));
  kept.forEach((first, k) =>
    parts[first]!.forEach((word, i) => {
      const inner = i % outStrides[axis]!;
      const outer = Math.floor(i / outStrides[axis]!);
      writeWord(bytes, outer * outStrides[axis]! * kept.length + k * outStrides[axis]! + inner, x.dtype, word);
    }),
  );
  const list = (values: readonly number[]): TensorData => int64Tensor(values);
  const result: TensorData = { dtype: x.dtype, shape: outShape, bytes };
  return [result, list(kept), list(inverse), list(counts)].map((data) => builder.constant(data));
};
