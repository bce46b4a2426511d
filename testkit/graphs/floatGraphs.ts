/**
 * Random float32 graphs in which small input changes cause small result changes. Therefore onnxruntime agrees with the
 * definition up to rounding. Fusing, sharing, or reading through views must not change a result.
 */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { Choices } from "./choices.ts";
import { arithmeticOf, broadcastable } from "./elementwise.ts";
import { Graph, type GraphLimits, type Recipe, type Value } from "./graph.ts";
import * as movement from "./movement.ts";
import * as reductions from "./reductions.ts";

const F = DType.float32;
const LIMITS: GraphLimits = { dtypes: [F], styles: ["small"], maxElements: 600, chains: true };
/** Numbers that a recipe draws at most. */
const DIGITS = 24;

const unary: Recipe = (g, c) => {
  const x = g.any(c, [F]);
  const operators = "Relu Tanh Sigmoid Neg Abs HardSigmoid Softsign LeakyRelu Identity".split(" ");
  g.node(c.pick(operators), [x], [[F, x.shape]]);
};

const arithmetic = arithmeticOf(["Add", "Sub", "Mul", "Max", "Min"]);

const where: Recipe = (g, c) => {
  const x = g.any(c, [F]);
  const condition = g.constant(c, DType.bool, broadcastable(c, x.shape));
  const other = g.constant(c, F, []);
  g.node("Where", c.flag() ? [condition, x, other] : [condition, other, x], [[F, x.shape]]);
};

const reduce: Recipe = (g, c) => {
  const x = g.any(c, [F], 1);
  const axes = c.axes(x.shape.length);
  const keepdims = c.below(2);
  const kept = x.shape.flatMap((dim, d) => (!axes.includes(d) ? [dim] : keepdims ? [1] : []));
  g.node(c.pick(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"]), [x], [[F, kept]], { axes, keepdims });
};

const softmax: Recipe = (g, c) => {
  const x = g.any(c, [F], 1);
  const rank = x.shape.length;
  g.node("Softmax", [x], [[F, x.shape]], { axis: c.int(-rank, rank - 1) });
};

/** The product of a matrix and the matrix's transpose. */
const square: Recipe = (g, c) => {
  const x = g.any(c, [F], 2);
  const rank = x.shape.length;
  const perm = x.shape.map((_, d) => (d < rank - 2 ? d : 2 * rank - 3 - d));
  const [turned] = g.node("Transpose", [x], [[F, perm.map((d) => x.shape[d]!)]], { perm });
  if (turned === undefined) return;
  g.node("MatMul", [x, turned], [[F, [...x.shape.slice(0, -1), x.shape.at(-2)!]]]);
};

const layerNormalisation: Recipe = (g, c) => {
  const x = g.any(c, [F], 2);
  const own = [x.shape.at(-1)!];
  // A single element is its own mean: what is left is rounding.
  if (g.opset < 17 || own[0]! < 2) return;
  const parameters = [g.constant(c, F, own), g.constant(c, F, own)];
  g.node("LayerNormalization", [x, ...parameters], [[F, x.shape]], { axis: -1, epsilon: { float: 0.1 } });
};

/** Normalises the channels of `x`. */
const normaliseBatch = (g: Graph, c: Choices, x: Value): void => {
  const own = [x.shape[1]!];
  const [scale, bias, mean] = [g.constant(c, F, own), g.constant(c, F, own), g.constant(c, F, own)];
  const variance = g.known(floatTensor(Array.from({ length: own[0]! }, () => c.int(8, 16) / 8)));
  g.node("BatchNormalization", [x, scale, bias, mean, variance], [[F, x.shape]]);
};

const batchNormalisation: Recipe = (g, c) => normaliseBatch(g, c, g.any(c, [F], 3));

/**
 * A convolution that keeps an image's size. The group count equals the channel count or one, and a normalisation often
 * follows.
 */
const paddedConvolution: Recipe = (g, c) => {
  const x = g.pick(
    c,
    [F],
    (shape) => shape.length === 4,
    () => [1, c.int(1, 4), c.int(2, 5), c.int(2, 5)],
  );
  const [n, channels, h, w] = x.shape as [number, number, number, number];
  const group = c.pick([1, channels]);
  const outputs = group === 1 ? c.int(1, 4) : channels;
  const weights = g.constant(c, F, [outputs, channels / group, 3, 3]);
  const [y] = g.node("Conv", [x, weights], [[F, [n, outputs, h, w]]], { group, pads: [1, 1, 1, 1] });
  if (y !== undefined && c.flag()) normaliseBatch(g, c, y);
};

const enlarge: Recipe = (g, c) => {
  const x = g.any(c, [F], 3, 4);
  const scales = x.shape.map((_, d) => (d < 2 ? 1 : c.int(1, 2)));
  const shape = x.shape.map((dim, d) => dim * scales[d]!);
  const attributes = { mode: "nearest", coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
  g.node("Resize", [x, undefined, g.known(floatTensor(scales))], [[F, shape]], attributes);
};

/** A product with fixed weights. */
const weighted: Recipe = (g, c) => {
  const x = g.any(c, [F], 2);
  const n = c.int(1, 4);
  g.node("MatMul", [x, g.constant(c, F, [x.shape.at(-1)!, n])], [[F, [...x.shape.slice(0, -1), n]]]);
};

/** The list repeats elementwise recipes, and convolutions with a normalisation, because such steps fuse. */
const RECIPES: readonly Recipe[] = [
  unary,
  unary,
  unary,
  arithmetic,
  arithmetic,
  arithmetic,
  arithmetic,
  movement.transpose,
  movement.reshape,
  movement.slice,
  movement.pad,
  movement.concat,
  movement.split,
  movement.expand,
  movement.tile,
  movement.gather,
  movement.gatherElements,
  movement.gatherNd,
  movement.unsqueeze,
  reduce,
  softmax,
  weighted,
  square,
  reductions.matMul,
  reductions.gemm,
  reductions.einsum,
  reductions.convOf(3),
  paddedConvolution,
  paddedConvolution,
  paddedConvolution,
  paddedConvolution,
  paddedConvolution,
  paddedConvolution,
  reductions.poolOf(3),
  reductions.globalPool,
  reductions.cumSum,
  layerNormalisation,
  batchNormalisation,
  where,
  enlarge,
];

/**
 * Returns a random graph with up to `recipes` recipes, as an experiment. The outputs are the last value and some
 * others.
 */
export function floatGraph(r: RandomTensors, opset: number, recipes: number): Experiment {
  const draws = (): Choices => new Choices(Array.from({ length: DIGITS }, () => r.int(0, 2 ** 16)));
  const graph = new Graph(opset, LIMITS);
  const first = draws();
  graph.input(first, F, first.shape(first.int(1, 4), 5));
  for (let k = 0; k < recipes; k++) r.pick(RECIPES)(graph, draws());
  if (graph.nodes.length === 0) unary(graph, draws());
  const last = graph.values.findLast(({ name }) => name.startsWith("v"));
  return { ...graph.experiment((value) => value === last || r.int(0, 3) === 0), atol: 1e-4 };
}
