/** Random graphs of several operators: what fuses, and how views of views are read. */
import { elementCount, type TensorData } from "../../src/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../src/onnx/tensorData.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue, NodeSpec } from "../onnx/onnxBuilder.ts";
import { F, type Make } from "../operators/makers.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { factorised } from "./movement.ts";

const MOST_ELEMENTS = 600;

type Entry = { name: string; shape: readonly number[] };

/** A graph that grows: tensors of known shapes, and nodes over them. */
class Growing {
  readonly r: RandomTensors;
  readonly nodes: NodeSpec[] = [];
  readonly constants: Record<string, TensorData> = {};
  readonly pool: Entry[] = [];

  constructor(r: RandomTensors) {
    this.r = r;
  }

  constant(tensor: TensorData): string {
    const name = `c${Object.keys(this.constants).length}`;
    this.constants[name] = tensor;
    return name;
  }

  node(
    op: string,
    inputs: readonly string[],
    shape: readonly number[],
    attributes: Record<string, AttributeValue> = {},
  ): void {
    const name = `t${this.nodes.length}`;
    this.nodes.push({ op, inputs, outputs: [name], attributes });
    this.pool.push({ name, shape });
  }
}

type Grow = (g: Growing, x: Entry) => void;

const unary: Grow = (g, { name, shape }) =>
  g.node(g.r.pick(["Neg", "Abs", "Relu", "Sigmoid", "Tanh", "LeakyRelu", "Identity"]), [name], shape);

const binary: Grow = (g, x) => {
  const partner = g.pool.find((other) => other !== x && other.shape.join() === x.shape.join());
  const wide = g.pool.find((other) => other !== x && x.shape.slice(-other.shape.length).join() === other.shape.join());
  const other = g.r.pick([partner, wide, undefined])?.name ?? g.constant(g.r.float(g.r.broadcastable(x.shape), -2, 2));
  const pair = g.r.int(0, 1) ? [x.name, other] : [other, x.name];
  g.node(g.r.pick(["Add", "Sub", "Mul", "Max", "Min"]), pair, x.shape);
};

const transpose: Grow = (g, { name, shape }) => {
  const perm = g.r.permutation(shape.length);
  g.node(
    "Transpose",
    [name],
    perm.map((d) => shape[d]!),
    { perm },
  );
};

const reshape: Grow = (g, { name, shape }) => {
  const wanted = factorised(g.r, elementCount(shape));
  g.node("Reshape", [name, g.constant(int64Tensor(wanted))], wanted);
};

const slice: Grow = (g, { name, shape }) => {
  if (shape.length === 0) return;
  const axis = g.r.int(0, shape.length - 1);
  const step = g.r.pick([1, 1, 2, -1]);
  const start = g.r.int(0, shape[axis]! - 1);
  const count = Math.ceil((step > 0 ? shape[axis]! - start : start + 1) / Math.abs(step));
  const lists = [[start], [step > 0 ? 2 ** 31 : -(2 ** 31)], [axis], [step]];
  g.node(
    "Slice",
    [name, ...lists.map((list) => g.constant(int64Tensor(list)))],
    shape.map((dim, d) => (d === axis ? count : dim)),
  );
};

const pad: Grow = (g, { name, shape }) => {
  if (shape.length === 0) return;
  const mode = g.r.pick(["constant", "edge"]);
  const pads = [...shape, ...shape].map(() => g.r.int(0, 1));
  g.node(
    "Pad",
    [name, g.constant(int64Tensor(pads))],
    shape.map((dim, d) => dim + pads[d]! + pads[d + shape.length]!),
    { mode },
  );
};

const tile: Grow = (g, { name, shape }) => {
  const repeats = shape.map(() => g.r.pick([1, 1, 2]));
  if (shape.length > 0)
    g.node(
      "Tile",
      [name, g.constant(int64Tensor(repeats))],
      shape.map((dim, d) => dim * repeats[d]!),
    );
};

const concat: Grow = (g, x) => {
  if (x.shape.length === 0) return;
  const axis = g.r.int(0, x.shape.length - 1);
  const fits = (other: Entry): boolean =>
    other.shape.length === x.shape.length && other.shape.every((dim, d) => d === axis || dim === x.shape[d]);
  const other = g.r.pick(g.pool.filter(fits));
  g.node(
    "Concat",
    [x.name, other.name],
    x.shape.map((dim, d) => (d === axis ? dim + other.shape[axis]! : dim)),
    { axis },
  );
};

const gather: Grow = (g, { name, shape }) => {
  if (shape.length === 0) return;
  const axis = g.r.int(0, shape.length - 1);
  const indices = g.r.integer(7, g.r.shape(g.r.int(0, 2), 3), -shape[axis]!, shape[axis]! - 1);
  g.node("Gather", [name, g.constant(indices)], [...shape.slice(0, axis), ...indices.shape, ...shape.slice(axis + 1)], {
    axis,
  });
};

const reduce: Grow = (g, { name, shape }) => {
  if (shape.length === 0) return;
  const axes = g.r.permutation(shape.length).slice(0, g.r.int(1, shape.length));
  const keepdims = g.r.int(0, 1);
  const kept = shape.flatMap((dim, d) => (axes.includes(d) ? (keepdims ? [1] : []) : [dim]));
  g.node(g.r.pick(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"]), [name], kept, { axes, keepdims });
};

const softmax: Grow = (g, { name, shape }) => {
  if (shape.length > 0) g.node("Softmax", [name], shape, { axis: g.r.int(-shape.length, shape.length - 1) });
};

const multiply: Grow = (g, x) => {
  if (x.shape.length < 2) return;
  const n = g.r.int(1, 4);
  const weights = g.r.float([x.shape.at(-1)!, n], -1, 1);
  g.node("MatMul", [x.name, g.constant(weights)], [...x.shape.slice(0, -1), n]);
};

const square: Grow = (g, x) => {
  const rank = x.shape.length;
  if (rank < 2) return;
  const perm = x.shape.map((_, d) => (d < rank - 2 ? d : 2 * rank - 3 - d));
  const name = `u${g.nodes.length}`;
  g.nodes.push({ op: "Transpose", inputs: [x.name], outputs: [name], attributes: { perm } });
  g.node("MatMul", [x.name, name], [...x.shape.slice(0, -1), x.shape.at(-2)!]);
};

const convolve: Grow = (g, x) => {
  const [n, channels, ...sizes] = x.shape;
  if (sizes.length < 1 || sizes.length > 3) return;
  const kernel = sizes.map((size) => g.r.int(1, Math.min(3, size)));
  const outputs = g.r.int(1, 4);
  const weights = g.constant(g.r.float([outputs, channels!, ...kernel], -1, 1));
  const shape = [n!, outputs, ...sizes.map((size, d) => size - kernel[d]! + 1)];
  g.node("Conv", [x.name, weights, ...(g.r.int(0, 1) ? [g.constant(g.r.float([outputs]))] : [])], shape, {
    kernel_shape: kernel,
  });
};

const poolMax: Grow = (g, x) => {
  const sizes = x.shape.slice(2);
  if (sizes.length < 1 || sizes.length > 3) return;
  const kernel = sizes.map((size) => g.r.int(1, Math.min(2, size)));
  const shape = [...x.shape.slice(0, 2), ...sizes.map((size, d) => size - kernel[d]! + 1)];
  g.node(g.r.pick(["MaxPool", "AveragePool"]), [x.name], shape, { kernel_shape: kernel });
};

const normalise: Grow = (g, { name, shape }) => {
  if (shape.length < 2 || shape.at(-1)! < 2) return;
  const own = [shape.at(-1)!];
  const parameters = [g.r.float(own), g.r.float(own)].map((tensor) => g.constant(tensor));
  g.node("LayerNormalization", [name, ...parameters], shape, { axis: -1, epsilon: { float: 0.1 } });
};

const cumulate: Grow = (g, { name, shape }) => {
  if (shape.length === 0) return;
  const axis = g.constant(int64Tensor([g.r.int(0, shape.length - 1)], []));
  g.node("CumSum", [name, axis], shape, { reverse: g.r.int(0, 1) });
};

const choose: Grow = (g, x) => {
  const condition = g.constant(g.r.bool(g.r.broadcastable(x.shape)));
  const other = g.constant(floatTensor([g.r.int(-3, 3)], []));
  g.node("Where", g.r.int(0, 1) ? [condition, x.name, other] : [condition, other, x.name], x.shape);
};

const enlarge: Grow = (g, x) => {
  if (x.shape.length < 3 || x.shape.length > 4) return;
  const scales = x.shape.map((_, d) => (d < 2 ? 1 : g.r.pick([1, 2])));
  const shape = x.shape.map((dim, d) => dim * scales[d]!);
  const attributes = { mode: "nearest", coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
  g.node("Resize", [x.name, "", g.constant(floatTensor(scales))], shape, attributes);
};

const GROW: readonly Grow[] = [
  unary,
  binary,
  binary,
  transpose,
  reshape,
  slice,
  pad,
  tile,
  concat,
  gather,
  reduce,
  softmax,
  multiply,
  square,
  convolve,
  poolMax,
  normalise,
  cumulate,
  choose,
  enlarge,
];

const graph: Make = (r): Experiment => {
  const g = new Growing(r);
  const x = r.float(r.shape(r.int(1, 4), 4), -2, 2);
  g.pool.push({ name: "x", shape: x.shape });
  const wanted = r.int(2, 9);
  for (let k = 0; k < wanted; k++) {
    // What was made last, mostly: chains fuse.
    const small = g.pool.filter(({ shape }) => elementCount(shape) <= MOST_ELEMENTS && shape.length <= 5);
    const last = small.at(-1);
    if (last !== undefined) r.pick(GROW)(g, r.int(0, 3) ? last : r.pick(small));
  }
  if (g.nodes.length === 0) unary(g, g.pool[0]!);
  const made = g.nodes.map((node) => node.outputs[0]!);
  const outputs = [...new Set([made.at(-1)!, ...(r.int(0, 2) === 0 ? [r.pick(made)] : [])])];
  const used = new Set(g.nodes.flatMap((node) => node.inputs));
  return {
    opset: 17,
    operands: { x },
    initializers: Object.fromEntries(Object.entries(g.constants).filter(([name]) => used.has(name))),
    nodes: g.nodes,
    outputs: Object.fromEntries(outputs.map((name) => [name, F])),
    atol: 1e-3,
  };
};

/** By name. */
export const GRAPH_FUZZ: Record<string, Make> = { graph };
