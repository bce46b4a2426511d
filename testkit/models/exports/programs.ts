/** Recurrences, loops, branches and quantised networks, in the forms written by export tools and quantisers. */
import { DType } from "../../../src/numerics/dtype.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import type { IoSpec, NodeSpec } from "../../onnx/onnxBuilder.ts";
import { Exporter, type Exported } from "./exporter.ts";

const F = DType.float32;
const io = (name: string, dtype: DType = F): IoSpec => ({ name, dtype });
const bool = (value: boolean): TensorData => ({ dtype: DType.bool, shape: [], bytes: Uint8Array.of(Number(value)) });

/**
 * A tagger over packed sequences: two-way LSTM with lengths, states of zeros made from shapes, the best tag of each
 * word.
 */
export function lstmTagger(): Exported {
  const [g, width, hidden] = [new Exporter(31), 6, 5];
  const ids = g.random.integer(DType.int64, [2, 7], 0, 19);
  const lengths: TensorData = { dtype: DType.int64, shape: [2], bytes: int64Tensor([7, 4]).bytes };
  const words = g.node("Gather", [g.weight([20, width], 1), "ids"]);
  const x = g.node("Transpose", [words], { perm: [1, 0, 2] });
  const zeros = (): string =>
    g.node("ConstantOfShape", [g.shape(2, g.size(x, 1), hidden)], { value: { tensor: floatTensor([0]) } });
  const weights = (inputs: number): string[] => [
    g.weight([2, 4 * hidden, inputs], 0.5),
    g.weight([2, 4 * hidden, hidden], 0.5),
    g.weight([2, 8 * hidden]),
  ];
  const [y, h, c] = g.nodeOf(
    "LSTM",
    [x, ...weights(width), g.node("Cast", ["lengths"], { to: DType.int32 }), zeros(), zeros()],
    3,
    { direction: "bidirectional", hidden_size: hidden },
  ) as [string, string, string];
  const joined = g.node("Reshape", [g.node("Transpose", [y], { perm: [0, 2, 1, 3] }), g.ints(0, 0, -1)]);
  const [gru] = g.nodeOf(
    "GRU",
    [joined, g.weight([1, 3 * hidden, 2 * hidden]), g.weight([1, 3 * hidden, hidden]), g.weight([1, 6 * hidden])],
    2,
    { hidden_size: hidden, linear_before_reset: 1 },
  ) as [string];
  const top = g.node("Transpose", [g.node("Squeeze", [gru, g.ints(1)])], { perm: [1, 0, 2] });
  const scores = g.node("LogSoftmax", [g.linear(top, hidden, 4)], { axis: -1 });
  return g.model(
    "lstmTagger",
    14,
    { ids, lengths },
    { ids: ["batch", "length"], lengths: ["batch"] },
    { scores: [scores], tags: [g.node("ArgMax", [scores], { axis: 2, keepdims: 0 }), DType.int64], hn: [h], cn: [c] },
  );
}

/** A scripted loop: rows taken by the iteration number, a state carried on, what each gives stacked. */
function scriptedLoop(): Exported {
  const g = new Exporter(32);
  const x = g.random.float([2, 4, 3], -1, 1);
  const weight = g.weight([3, 3], 0.5);
  const body: NodeSpec[] = [
    { op: "Gather", inputs: ["x", "i"], outputs: ["row"], attributes: { axis: 1 } },
    { op: "MatMul", inputs: ["state", weight], outputs: ["moved"] },
    { op: "Add", inputs: ["row", "moved"], outputs: ["sum"] },
    { op: "Tanh", inputs: ["sum"], outputs: ["next"] },
    { op: "Identity", inputs: ["goOn"], outputs: ["goOnOut"] },
    { op: "Unsqueeze", inputs: ["next", "one"], outputs: ["each"] },
  ];
  g.initializers.one = int64Tensor([1]);
  const graph = {
    inputs: [{ ...io("i", DType.int64), shape: [] }, { ...io("goOn", DType.bool), shape: [] }, io("state")],
    outputs: [io("goOnOut", DType.bool), io("next"), io("each")],
    nodes: body,
    initializers: {},
  };
  const start = g.node("ConstantOfShape", [g.shape(g.size("x", 0), 3)], { value: { tensor: floatTensor([0]) } });
  const [last, all] = g.nodeOf("Loop", [g.size("x", 1), g.constant(bool(true)), start], 2, { body: { graph } }) as [
    string,
    string,
  ];
  return g.model(
    "scriptedLoop",
    13,
    { x },
    { x: ["batch", "steps", 3] },
    { last: [last], all: [g.node("Transpose", [g.node("Squeeze", [all, g.ints(2)])], { perm: [1, 0, 2] })] },
  );
}

/** PyTorch's squeeze for an unknown size: a branch on the shape, with two possible ranks. */
function squeezeBranch(): Exported {
  const g = new Exporter(33);
  const x = g.random.float([3, 1, 4], -1, 1);
  const y = g.node("ReduceMean", [g.node("Relu", ["x"])], { axes: [2], keepdims: 1 });
  const one = g.node("Equal", [g.size(y, 1), g.int(1)]);
  const branch = (op: string, inputs: string[]) => ({
    graph: { inputs: [], outputs: [io("r")], nodes: [{ op, inputs, outputs: ["r"] }], initializers: {} },
  });
  g.initializers.axis = int64Tensor([1]);
  const squeezed = g.node("If", [one], {
    then_branch: branch("Squeeze", [y, "axis"]),
    else_branch: branch("Identity", [y]),
  });
  return g.model("squeezeBranch", 13, { x }, { x: ["a", "b", 4] }, { y: [g.node("Softmax", [squeezed], { axis: 0 })] });
}

/** A branch on data: both are executed, and one is chosen. */
function dataBranch(): Exported {
  const g = new Exporter(34);
  const x = g.random.float([2, 4], -1, 1);
  const condition = g.node("Greater", [g.node("ReduceSum", ["x"], { keepdims: 0 }), g.float(0)]);
  const branch = (nodes: NodeSpec[]) => ({
    graph: { inputs: [], outputs: [io("r"), io("s")], nodes, initializers: {} },
  });
  const [r, s] = g.nodeOf("If", [condition], 2, {
    then_branch: branch([
      { op: "Exp", inputs: ["x"], outputs: ["r"] },
      { op: "Neg", inputs: ["x"], outputs: ["s"] },
    ]),
    else_branch: branch([
      { op: "Abs", inputs: ["x"], outputs: ["r"] },
      { op: "Mul", inputs: ["x", "x"], outputs: ["s"] },
    ]),
  }) as [string, string];
  return g.model("dataBranch", 13, { x }, {}, { y: [g.node("Add", [r, s])] });
}

/** tf2onnx's recurrence: a Scan over time. */
function scanned(): Exported {
  const g = new Exporter(35);
  const x = g.random.float([5, 2, 3], -1, 1);
  const [w, b] = [g.weight([6, 3]), g.weight([3])];
  const nodes: NodeSpec[] = [
    { op: "Concat", inputs: ["x_t", "h"], outputs: ["both"], attributes: { axis: 1 } },
    { op: "Gemm", inputs: ["both", w, b], outputs: ["z"] },
    { op: "Sigmoid", inputs: ["z"], outputs: ["gate"] },
    { op: "Mul", inputs: ["gate", "x_t"], outputs: ["in"] },
    { op: "Add", inputs: ["in", "h"], outputs: ["next"] },
    { op: "Softsign", inputs: ["next"], outputs: ["out"] },
  ];
  const graph = { inputs: [io("h"), io("x_t")], outputs: [io("next"), io("out")], nodes, initializers: {} };
  const start = g.node("Expand", [g.float(0), g.shape(g.size("x", 1), 3)]);
  const [last, all] = g.nodeOf("Scan", [start, "x"], 2, { body: { graph }, num_scan_inputs: 1 }) as [string, string];
  return g.model("scanned", 13, { x }, { x: ["time", "batch", 3] }, { last: [last], all: [all] });
}

/**
 * A quantised CNN with QuantizeLinear and DequantizeLinear around each operator: weights of 8 bits by channel, biases
 * of 32.
 */
function qdqCnn(): Exported {
  const g = new Exporter(36);
  const x = g.random.float([1, 3, 16, 16], -1, 1);
  const u8 = (value: number): string => g.initializer({ dtype: DType.uint8, shape: [], bytes: Uint8Array.of(value) });
  const scalar = (value: number): string => g.initializer(floatTensor([value], []));
  const around = (v: string, scale: number, zero: number): string => {
    const [s, z] = [scalar(scale), u8(zero)];
    return g.node("DequantizeLinear", [g.node("QuantizeLinear", [v, s, z]), s, z]);
  };
  const byChannel = (shape: readonly number[], axis: number): string => {
    const n = shape[axis]!;
    const scales = g.initializer(floatTensor(Array.from({ length: n }, (_, k) => 0.002 + 0.0005 * k)));
    const zeros = g.initializer({ dtype: DType.int8, shape: [n], bytes: new Uint8Array(n) });
    return g.node("DequantizeLinear", [g.initializer(g.random.integer(DType.int8, shape, -127, 127)), scales, zeros], {
      axis,
    });
  };
  const bias = (n: number): string => {
    const scales = g.initializer(floatTensor(Array.from({ length: n }, () => 0.0001)));
    return g.node(
      "DequantizeLinear",
      [
        g.initializer(g.random.integer(DType.int32, [n], -999, 999)),
        scales,
        g.initializer({ dtype: DType.int32, shape: [n], bytes: new Uint8Array(4 * n) }),
      ],
      { axis: 0 },
    );
  };
  const convolve = (v: string, from: number, to: number, stride: number): string =>
    g.node("Conv", [v, byChannel([to, from, 3, 3], 0), bias(to)], {
      kernel_shape: [3, 3],
      pads: [1, 1, 1, 1],
      strides: [stride, stride],
    });
  let y = around("x", 1 / 128, 128);
  y = around(g.node("Relu", [convolve(y, 3, 8, 2)]), 0.01, 0);
  y = around(g.node("Add", [around(convolve(y, 8, 8, 1), 0.02, 120), y]), 0.02, 100);
  y = around(g.node("GlobalAveragePool", [y]), 0.01, 90);
  y = around(g.node("Gemm", [g.node("Flatten", [y]), byChannel([10, 8], 0), bias(10)], { transB: 1 }), 0.01, 128);
  // A sum rounded the other way moves the result by one scale step.
  return g.model("qdqCnn", 13, { x }, { x: ["batch", 3, 16, 16] }, { logits: [y] }, 0.03);
}

/** The same network in integer operators, including the com.microsoft operators from onnxruntime's quantiser. */
function qOperatorCnn(): Exported {
  const g = new Exporter(37);
  const x = g.random.integer(DType.uint8, [1, 3, 12, 12], 0, 255);
  const u8 = (value: number): string => g.initializer({ dtype: DType.uint8, shape: [], bytes: Uint8Array.of(value) });
  const scalar = (value: number): string => g.initializer(floatTensor([value], []));
  const scales = g.initializer(floatTensor([0.002, 0.003, 0.004, 0.005]));
  // Weights with 7 bits, made by the quantiser's `reduce_range`. On older processors, onnxruntime's sums saturate with
  // wider weights.
  const weights = g.initializer(g.random.integer(DType.int8, [4, 3, 3, 3], -64, 63));
  const zeros = g.initializer({ dtype: DType.int8, shape: [4], bytes: new Uint8Array(4) });
  const bias = g.initializer(g.random.integer(DType.int32, [4], -999, 999));
  const [s, z] = [scalar(0.02), u8(110)];
  const conv = g.node("QLinearConv", ["x", scalar(0.01), u8(128), weights, scales, zeros, s, z, bias], {
    kernel_shape: [3, 3],
    pads: [1, 1, 1, 1],
    strides: [2, 2],
  });
  const [s2, z2] = [scalar(0.03), u8(100)];
  const sum = g.node("QLinearAdd", [conv, s, z, conv, s, z, s2, z2], {}, "com.microsoft");
  const pooled = g.node("QLinearGlobalAveragePool", [sum, s2, z2, s2, z2], { channels_last: 0 }, "com.microsoft");
  const dense = g.initializer(g.random.integer(DType.uint8, [4, 6], 0, 255));
  const product = g.node("QLinearMatMul", [
    g.node("Flatten", [pooled]),
    s2,
    z2,
    dense,
    scalar(0.01),
    u8(128),
    scalar(0.05),
    u8(128),
  ]);
  return g.model(
    "qOperatorCnn",
    13,
    { x },
    { x: ["batch", 3, 12, 12] },
    { y: [g.node("DequantizeLinear", [product, scalar(0.05), u8(128)])] },
    0.03,
  );
}

/** A multilayer perceptron as skl2onnx writes it: everything two-dimensional, the label by ArgMax and a table. */
function sklearnMlp(): Exported {
  const g = new Exporter(38);
  const x = g.random.float([4, 5], -1, 1);
  const cast = g.node("Cast", ["x"], { to: F });
  const hidden = g.node("Relu", [g.node("Add", [g.node("MatMul", [cast, g.weight([5, 8], 1)]), g.weight([1, 8])])]);
  const probabilities = g.node(
    "Softmax",
    [g.node("Add", [g.node("MatMul", [hidden, g.weight([8, 3], 1)]), g.weight([1, 3])])],
    { axis: -1 },
  );
  const best = g.node("ArgMax", [probabilities], { axis: 1, keepdims: 1 });
  const labels = g.node("Gather", [
    g.initializer(int64Tensor([7, 8, 9])),
    g.node("Cast", [g.node("Reshape", [best, g.ints(-1)])], { to: DType.int32 }),
  ]);
  return g.model(
    "sklearnMlp",
    13,
    { x },
    { x: ["n", 5] },
    { label: [labels, DType.int64], probabilities: [probabilities] },
  );
}

export const PROGRAMS = [
  lstmTagger,
  scriptedLoop,
  squeezeBranch,
  dataBranch,
  scanned,
  qdqCnn,
  qOperatorCnn,
  sklearnMlp,
];
