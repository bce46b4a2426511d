import { DType, isFloat } from "../../numerics/dtype.ts";
import { elementCount } from "../../model/onnx/model.ts";
import { floatTensor } from "../../model/onnx/tensorData.ts";
import { Reduce } from "../../program/types.ts";
import { addAffine, constantAffine, scaleAffine } from "../expressions/affine.ts";
import { REDUCTION_DIGIT, type Expr } from "../expressions/expression.ts";
import type { Lower, NodeContext } from "../lowering/nodeContext.ts";
import { channelsLast } from "../steps/storage.ts";
import { dimensionIndices, identityOrder, plainDigits, radixOf, type LazyTensor } from "../expressions/tensor.ts";
import { readAt, strides } from "../steps/views.ts";
import { minWord } from "../../numerics/numbers.ts";
import { reduceAxes } from "./reduction.ts";
import { readWindows, windowIndex, type Window } from "./window.ts";
import { broadcast } from "../lowering/broadcast.ts";

/**
 * Returns the data that windows read in the spatial dimensions: the result's digits, the window's digits, and the term.
 */
function windowTerm(context: NodeContext, x: LazyTensor, windows: readonly Window[], fill: bigint) {
  const input = context.builder.plain(x);
  const shape = [x.shape[0]!, x.shape[1]!, ...windows.map((window) => window.output)];
  const digits = plainDigits(shape);
  const indices = dimensionIndices(digits);
  const radices = windows.map((window) => window.kernel);
  const radix = radixOf(digits, radices);
  const at = indices.map((index, d) => (d < 2 ? index : windowIndex(windows[d - 2]!, index, REDUCTION_DIGIT + d - 2)));
  return { shape, digits, indices, radices, term: readAt(context.expressions, input, at, radix, fill) };
}

/** Reduces the windows of the spatial dimensions; for a dot both factors are the element. */
export function pool(
  context: NodeContext,
  x: LazyTensor,
  windows: readonly Window[],
  reduce: Reduce,
  fill: bigint,
): LazyTensor {
  const e = context.expressions;
  const { shape, digits, radices, term } = windowTerm(context, x, windows, fill);
  const expr = e.accumulator(reduce, x.dtype, x.dtype, radices, term, reduce === Reduce.dot ? term : undefined);
  return { dtype: x.dtype, shape, digits, expr, order: channelsLast(shape.length) };
}

/**
 * The flat index in the whole tensor of the first greatest element of each window. The last spatial dimension is the
 * fastest or, by `storage_order`, the first.
 */
function maxIndices(context: NodeContext, x: LazyTensor, windows: readonly Window[]): LazyTensor {
  const e = context.expressions;
  const { shape, digits, indices, radices, term } = windowTerm(context, x, windows, minWord(x.dtype));
  const spatial = windows.map((_, d) => d);
  const columnMajor = context.int("storage_order", 0) !== 0;
  const order = [0, 1, ...(columnMajor ? spatial.toReversed() : spatial).map((d) => d + 2)];
  const stride = strides(x.shape, order);
  const first = e.accumulator(Reduce.argmax, x.dtype, DType.int64, radices, term);
  const integer = (value: number): Expr => e.int64(value);
  // The index of the window's first element, then the index of the element within the window.
  let flat = constantAffine(0);
  indices.forEach((index, d) => {
    const window = windows[d - 2];
    const at = window ? addAffine(scaleAffine(index, window.stride), constantAffine(-window.padBegin)) : index;
    flat = addAffine(flat, scaleAffine(at, stride[d]!));
  });
  let expr = e.affine(flat);
  let rest: Expr = first;
  for (const d of spatial.toReversed()) {
    const own = d === 0 ? rest : e.mod(rest, integer(radices[d]!));
    const step = integer(windows[d]!.dilation * stride[d + 2]!);
    expr = e.add(expr, e.mul(own, step));
    rest = e.div(rest, integer(radices[d]!));
  }
  return { dtype: DType.int64, shape, digits, expr, order: identityOrder(shape.length) };
}

/** MaxPool; padding never wins. */
export const maxPool: Lower = (context) => {
  const x = context.input(0);
  if (x.shape.length < 3) return context.fail(`data of rank ${x.shape.length}`);
  // It orders the indices output only.
  context.ignore("storage_order");
  const windows = readWindows(context, x.shape.slice(2));
  const result = pool(context, x, windows, Reduce.max, minWord(x.dtype));
  if ((context.node.outputs[1] ?? "") === "") return [result];
  context.builder.realise(result);
  return [result, maxIndices(context, x, windows)];
};

/** The place of the first greatest element within its window, counted along the window's rows. */
export const windowMaximum: Lower = (context) => {
  const x = context.input(0);
  const windows = readWindows(context, x.shape.slice(2));
  const { shape, digits, radices, term } = windowTerm(context, x, windows, minWord(x.dtype));
  const expr = context.expressions.accumulator(Reduce.argmax, x.dtype, DType.int64, radices, term);
  return [{ dtype: DType.int64, shape, digits, expr, order: identityOrder(shape.length) }];
};

/** How many window positions each output along one dimension averages over. */
export function windowCounts(context: NodeContext, window: Window, includePad: boolean): number[] {
  context.builder.budget.computeElements(window.output * window.kernel);
  const [low, high] = includePad ? [-window.padBegin, window.input + window.padEnd] : [0, window.input];
  return Array.from({ length: window.output }, (_, o) => {
    let count = 0;
    for (let k = 0; k < window.kernel; k++) {
      const at = o * window.stride + k * window.dilation - window.padBegin;
      if (at >= low && at < high) count++;
    }
    return count;
  });
}

/** AveragePool: an exact sum, divided by the number of positions (in the input, or in the padded input). */
export const averagePool: Lower = (context) => {
  const x = context.floatInput();
  if (x.shape.length < 3) return context.fail(`data of rank ${x.shape.length}`);
  const windows = readWindows(context, x.shape.slice(2));
  const sum = pool(context, x, windows, Reduce.sum, 0n);
  const perDimension = windows.map((w) => windowCounts(context, w, context.int("count_include_pad", 0) !== 0));
  const counts = perDimension.reduce<number[]>((all, own) => all.flatMap((a) => own.map((b) => a * b)), [1]);
  const e = context.expressions;
  if (counts.every((count) => count === counts[0]))
    return [broadcast(context, [sum], (v) => e.div(v, e.like(v, counts[0]!)))];
  const divisor = context.builder.constant(
    floatTensor(
      counts,
      perDimension.map((own) => own.length),
    ),
  );
  return [broadcast(context, [sum, divisor], (v, n) => e.div(v, e.cast(n, v.dtype)), true)];
};

/** GlobalAveragePool (an exact sum divided by the count) and GlobalMaxPool. */
export const globalPool =
  (reduce: Reduce): Lower =>
  (context) => {
    const x = context.input(0);
    if (!isFloat(x.dtype) || x.shape.length < 3) return context.fail(`data of rank ${x.shape.length}, type ${x.dtype}`);
    const axes = identityOrder(x.shape.length).slice(2);
    const result = reduceAxes(context.builder, x, axes, reduce);
    if (reduce === Reduce.max) return [result];
    const e = context.expressions;
    const n = elementCount(axes.map((axis) => x.shape[axis]!));
    return [broadcast(context, [result], (v) => e.div(v, e.like(v, n)))];
  };
