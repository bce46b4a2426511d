import { DType } from "../../src/numerics/dtype.ts";
import type { Choices } from "./choices.ts";
import { broadcastable, F, FLOATS } from "./elementwise.ts";
import type { Graph, Recipe, Value } from "./graph.ts";

const SUMMED: readonly DType[] = [...FLOATS, DType.int64, DType.int32];

/** A value with a long dimension, now and then. */
function terms(g: Graph, c: Choices, dtypes: readonly DType[]): Value {
  if (c.below(4) !== 3) return g.any(c, dtypes, 1);
  const shape = c.pick([[1, 700], [601], [2, 3, 129], [97, 7], [1, 2, 300]]);
  return g.pick(
    c,
    dtypes,
    (own) => own.join() === shape.join(),
    () => shape,
  );
}

const reduce: Recipe = (g, c) => {
  const op = c.pick([
    "ReduceSum",
    "ReduceMax",
    "ReduceMin",
    "ReduceMean",
    "ReduceL1",
    "ReduceSumSquare",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceProd",
  ]);
  const anyType = ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1"].includes(op);
  const x = op === "ReduceProd" ? g.any(c, F, 1) : terms(g, c, anyType ? SUMMED : F);
  const axes = c.axes(x.shape.length);
  const keepdims = c.below(2);
  const kept = x.shape.flatMap((dim, d) => (!axes.includes(d) ? [dim] : keepdims ? [1] : []));
  if (g.opset >= (op === "ReduceSum" ? 13 : 18)) g.node(op, [x, g.integers(axes)], [[x.dtype, kept]], { keepdims });
  else g.node(op, [x], [[x.dtype, kept]], { keepdims, axes });
};

const argument: Recipe = (g, c) => {
  const x = terms(g, c, [...SUMMED, DType.uint8]);
  const axis = c.below(x.shape.length);
  const keepdims = c.below(2);
  const shape = x.shape.flatMap((dim, d) => (d !== axis ? [dim] : keepdims ? [1] : []));
  const attributes = { axis, keepdims, ...(g.opset >= 12 ? { select_last_index: c.below(2) } : {}) };
  g.node(c.pick(["ArgMax", "ArgMin"]), [x], [[DType.int64, shape]], attributes);
};

const topK: Recipe = (g, c) => {
  const x = g.any(c, SUMMED, 1);
  const axis = c.below(x.shape.length);
  const k = c.int(1, x.shape[axis]!);
  const shape = x.shape.map((dim, d) => (d === axis ? k : dim));
  g.node(
    "TopK",
    [x, g.integers([k])],
    [
      [x.dtype, shape],
      [DType.int64, shape],
    ],
    { axis, largest: c.below(2) },
  );
};

export const cumSum: Recipe = (g, c) => {
  const x = terms(g, c, SUMMED);
  const axis = g.integers([c.below(x.shape.length)]);
  g.node("CumSum", [x, axis], [[x.dtype, x.shape]], { exclusive: c.below(2), reverse: c.below(2) });
};

const softmax: Recipe = (g, c) => {
  const x = g.any(c, F, 1);
  g.node(c.pick(["Softmax", "LogSoftmax", "Hardmax"]), [x], [[x.dtype, x.shape]], { axis: c.below(x.shape.length) });
};

const layerNormalisation: Recipe = (g, c) => {
  const x = g.any(c, F, 1);
  const axis = c.below(x.shape.length);
  const own = x.shape.slice(axis);
  if (g.opset < 17) return;
  const scale = g.constant(c, x.dtype, own);
  g.node("LayerNormalization", [x, scale, ...(c.flag() ? [g.constant(c, x.dtype, own)] : [])], [[x.dtype, x.shape]], {
    axis,
  });
};

export const matMul: Recipe = (g, c) => {
  const a = g.any(c, F, 2, 4);
  const [k, n] = [a.shape.at(-1)!, c.int(1, 5)];
  const batch = broadcastable(c, a.shape.slice(0, -2));
  const shape = [...batch, k, n];
  const fits = (own: readonly number[]): boolean => own.length === 2 && own[0] === k;
  const b = c.flag() ? g.constant(c, a.dtype, shape) : g.pick(c, [a.dtype], fits, () => shape);
  g.node("MatMul", [a, b], [[a.dtype, [...a.shape.slice(0, -1), b.shape.at(-1)!]]]);
};

export const gemm: Recipe = (g, c) => {
  const a = g.any(c, F, 2, 2);
  const [transA, transB] = [c.below(2), c.below(2)];
  const [m, k] = transA ? [a.shape[1]!, a.shape[0]!] : [a.shape[0]!, a.shape[1]!];
  const n = c.int(1, 5);
  const b = g.constant(c, a.dtype, transB ? [n, k] : [k, n]);
  const bias = c.flag() ? [g.constant(c, a.dtype, broadcastable(c, [m, n]))] : [];
  g.node("Gemm", [a, b, ...bias], [[a.dtype, [m, n]]], {
    transA,
    transB,
    ...(c.flag() ? { alpha: { float: 0.5 }, beta: { float: 3 } } : {}),
  });
};

type Window = { kernel: number[]; strides: number[]; pads: number[]; dilations: number[]; size: number[] };

/** A window over an image with one or two dimensions, and the size of the result. */
function window(c: Choices, spatial: readonly number[], dilated: boolean): Window {
  const kernel = spatial.map((dim) => c.int(1, Math.min(3, dim)));
  const dilations = spatial.map((dim, d) => (dilated && 2 * (kernel[d]! - 1) < dim ? c.int(1, 2) : 1));
  const strides = spatial.map(() => c.int(1, 2));
  const pads = [0, 1].flatMap(() => kernel.map((k) => c.int(0, k - 1)));
  const size = spatial.map((dim, d) => {
    const span = (kernel[d]! - 1) * dilations[d]! + 1;
    return Math.floor((dim + pads[d]! + pads[d + spatial.length]! - span) / strides[d]!) + 1;
  });
  return { kernel, strides, pads, dilations, size };
}

/** Returns an image with one dimension up to `spatial` dimensions. */
const image = (g: Graph, c: Choices, dtypes: readonly DType[], spatial: number): Value =>
  g.pick(
    c,
    dtypes,
    (own) => own.length >= 3 && own.length <= 2 + spatial,
    () => [c.int(1, 2), c.int(1, 4), ...c.shape(c.int(1, spatial), 6)],
  );

/** Returns a recipe for a convolution over images with at most `spatial` dimensions. */
export const convOf =
  (spatial: number): Recipe =>
  (g, c) => {
    const x = image(g, c, F, spatial);
    const [n, channels, ...sizes] = x.shape as [number, number, ...number[]];
    const { kernel, strides, pads, dilations, size } = window(c, sizes, true);
    const group = c.pick([1, channels]);
    const outputs = group * c.int(1, 3);
    const weights = g.constant(c, x.dtype, [outputs, channels / group, ...kernel]);
    const bias = c.flag() ? [g.constant(c, x.dtype, [outputs])] : [];
    g.node("Conv", [x, weights, ...bias], [[x.dtype, [n, outputs, ...size]]], {
      group,
      strides,
      pads,
      dilations,
      kernel_shape: kernel,
    });
  };

/** Returns a recipe for a pooling over images with at most `spatial` dimensions. */
export const poolOf =
  (spatial: number): Recipe =>
  (g, c) => {
    const x = image(g, c, F, spatial);
    const [n, channels, ...sizes] = x.shape as [number, number, ...number[]];
    const { kernel, strides, pads, size } = window(c, sizes, false);
    const op = c.pick(["MaxPool", "AveragePool"]);
    const extra: Record<string, number> = op === "AveragePool" ? { count_include_pad: c.below(2) } : {};
    g.node(op, [x], [[x.dtype, [n, channels, ...size]]], { kernel_shape: kernel, strides, pads, ...extra });
  };

export const globalPool: Recipe = (g, c) => {
  const x = image(g, c, F, 2);
  const shape = x.shape.map((dim, d) => (d < 2 ? dim : 1));
  g.node(c.pick(["GlobalAveragePool", "GlobalMaxPool"]), [x], [[x.dtype, shape]]);
};

const matMulInteger: Recipe = (g, c) => {
  const a = g.any(c, [DType.uint8, DType.int8], 2, 3);
  const b = g.constant(c, c.pick([DType.uint8, DType.int8]), [a.shape.at(-1)!, c.int(1, 5)]);
  const zeros = c.flag() ? [g.constant(c, a.dtype, []), g.constant(c, b.dtype, [])] : [];
  g.node("MatMulInteger", [a, b, ...zeros], [[DType.int32, [...a.shape.slice(0, -1), b.shape[1]!]]]);
};

const convInteger: Recipe = (g, c) => {
  const x = g.pick(
    c,
    [DType.uint8],
    (own) => own.length === 4,
    () => [1, c.int(1, 4), ...c.shape(2, 6)],
  );
  const [n, channels, ...spatial] = x.shape as [number, number, ...number[]];
  const { kernel, strides, pads, size } = window(c, spatial, false);
  const weights = g.constant(c, c.pick([DType.uint8, DType.int8]), [c.int(1, 3), channels, ...kernel]);
  const zeros = c.flag() ? [g.constant(c, DType.uint8, [])] : [];
  g.node("ConvInteger", [x, weights, ...zeros], [[DType.int32, [n, weights.shape[0]!, ...size]]], {
    strides,
    pads,
    kernel_shape: kernel,
  });
};

export const einsum: Recipe = (g, c) => {
  const a = g.any(c, F, 2, 2);
  const [i, j] = a.shape as [number, number];
  const [equation, own, shape] = c.pick<readonly [string, number[], number[]]>([
    ["ij,jk->ik", [j, 3], [i, 3]],
    ["ij,kj->ki", [2, j], [2, i]],
    ["ij,ij->i", [i, j], [i]],
    ["ij,ij->", [i, j], []],
    ["ij,k->ijk", [3], [i, j, 3]],
  ]);
  const b = g.pick(
    c,
    [a.dtype],
    (known) => known.join() === own.join(),
    () => own,
  );
  g.node("Einsum", [a, b], [[a.dtype, shape]], { equation });
};

/** Reductions, products and what is made of them. */
export const REDUCTIONS: readonly Recipe[] = [
  matMul,
  reduce,
  convOf(2),
  argument,
  softmax,
  poolOf(2),
  gemm,
  topK,
  cumSum,
  layerNormalisation,
  globalPool,
  matMulInteger,
  convInteger,
  einsum,
];
