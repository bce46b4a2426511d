import { DType } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { numberWord } from "../../numerics/numbers.ts";
import { dropAxes, reducedAxes } from "./reduction.ts";
import { broadcast } from "../lowering/broadcast.ts";
import { sliced, wholeRange, type Range } from "../lowering/slices.ts";

/** The maximum number of factors of one product: they are unrolled, about ten to a step. */
const MAX_FACTORS = 1024;
/** The largest matrix whose determinant is expanded. */
const MAX_ORDER = 6;

const times = (context: NodeContext, a: LazyTensor, b: LazyTensor): LazyTensor =>
  broadcast(context, [a, b], context.expressions.mul);

/** ReduceProd: a chain of products from the left, in row-major order of the reduced dimensions, each rounded. */
export const reduceProd: Lower = (context) => {
  const x = context.input(0);
  if (x.dtype === DType.bool) return context.refuse("input 0", "is bool");
  const keep = context.int("keepdims", 1) !== 0;
  const axes = reducedAxes(context, x.shape.length, 18);
  if (axes === undefined) return [x];
  const sizes = axes.map((axis) => x.shape[axis]!);
  const count = elementCount(sizes);
  if (count > MAX_FACTORS)
    return context.refuse("input 0", `has ${count} factors for each output, at most ${MAX_FACTORS} are multiplied`);
  if (count === 0) {
    const shape = x.shape.map((dim, d) => (axes.includes(d) ? 1 : dim));
    const one = context.builder.filled(x.dtype, shape, numberWord(1, x.dtype));
    return [keep ? one : dropAxes(context.builder, one, axes)];
  }
  context.builder.plain(x);
  const factor = (flat: number): LazyTensor => {
    const ranges = x.shape.map(wholeRange);
    let rest = flat;
    for (const axis of axes.toReversed()) {
      const dim = x.shape[axis]!;
      ranges[axis] = { start: rest % dim, step: 1, count: 1 };
      rest = Math.floor(rest / dim);
    }
    return sliced(context, x, ranges);
  };
  let result = factor(0);
  for (let i = 1; i < count; i++) result = times(context, result, factor(i));
  return [keep ? result : dropAxes(context.builder, result, axes)];
};

/** Det: the expansion along the first row, in float32 products and sums; minors are computed once. */
export const det: Lower = (context) => {
  const { builder, expressions: e } = context;
  const x = context.floatInput();
  const rank = x.shape.length;
  const order = x.shape[rank - 1] ?? 0;
  if (rank < 2 || x.shape[rank - 2] !== order) return context.fail(`[${x.shape.join()}] holds no square matrices`);
  if (order > MAX_ORDER)
    return context.refuse("input 0", `holds matrices of order ${order}, at most ${MAX_ORDER} is expanded`);
  builder.plain(x);
  const batch = x.shape.slice(0, -2);
  const element = (row: number, column: number): LazyTensor => {
    const one = (start: number): Range => ({ start, step: 1, count: 1 });
    return builder.reshape(sliced(context, x, [...batch.map(wholeRange), one(row), one(column)]), batch);
  };
  const minors = new Map<string, LazyTensor>();
  /** The determinant of the last rows over the given columns. */
  const minor = (columns: readonly number[]): LazyTensor => {
    const key = columns.join();
    const known = minors.get(key);
    if (known !== undefined) return known;
    const row = order - columns.length;
    const products = columns.map((column) => {
      const rest = columns.filter((other) => other !== column);
      return rest.length === 0 ? element(row, column) : times(context, element(row, column), minor(rest));
    });
    const result = products.reduce((sum, product, k) =>
      broadcast(context, [sum, product], k % 2 === 1 ? e.sub : e.add),
    );
    minors.set(key, result);
    return result;
  };
  return [minor(Array.from({ length: order }, (_, column) => column))];
};
