/** Random experiments for operators on values known at compile time, and for crops, folds and positions of maxima. */
import { DType } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import type { AttributeValue, NodeSpec } from "../onnx/onnxBuilder.ts";
import { F, pooling, type Make } from "./makers.ts";

const I = DType.int64;

/** Returns constants with a node, and a Gather or Add that turns the node's result into run-time values. */
function folded(
  node: NodeSpec,
  constants: Readonly<Record<string, TensorData>>,
  outputs: Experiment["outputs"],
): Experiment {
  return {
    operands: { run: floatTensor([1, 2, 3]) },
    initializers: constants,
    nodes: [node, { op: "Abs", inputs: ["run"], outputs: ["ran"] }],
    outputs: { ...outputs, ran: F },
  };
}

const nonZero: Make = (r) => {
  const x = r.integer(r.pick([DType.int32, DType.bool]), r.shape(r.int(1, 3)), 0, 1);
  x.bytes[0] = 1;
  return folded({ op: "NonZero", inputs: ["x"], outputs: ["y"] }, { x }, { y: I });
};

/** At least one box of each class: no score is too low. */
const nonMaxSuppression: Make = (r) => {
  const [batch, boxes, classes] = [r.int(1, 2), r.int(1, 6), r.int(1, 2)];
  const node = {
    op: "NonMaxSuppression",
    inputs: ["boxes", "scores", "most", "overlap"],
    outputs: ["y"],
    attributes: { center_point_box: r.int(0, 1) },
  };
  const constants = {
    boxes: r.float([batch, boxes, 4], 0, 1),
    scores: r.float([batch, classes, boxes]),
    most: int64Tensor([r.int(1, 3)]),
    overlap: floatTensor([r.pick([0.25, 0.5, 0.9])]),
  };
  return folded(node, constants, { y: I });
};

const compress: Make = (r) => {
  const x = r.float(r.shape(3));
  const axis = r.pick([undefined, r.int(-3, 2)]);
  const length = axis === undefined ? elementCount(x.shape) : x.shape.at(axis)!;
  const condition = r.bool([r.int(1, length)]);
  condition.bytes[0] = 1;
  return single("Compress", [x], [condition], axis === undefined ? {} : { axis }, F);
};

const unique: Make = (r) => {
  const x = r.pick([r.integer(DType.int64, r.shape(3, 3), 0, 2), r.float(r.shape(3, 3), 0, 1)]);
  const attributes: Record<string, AttributeValue> = { sorted: r.int(0, 1) };
  if (r.int(0, 2) > 0) attributes["axis"] = r.int(-3, 2);
  const node = { op: "Unique", inputs: ["x"], outputs: ["y", "first", "which", "count"], attributes };
  return folded(node, { x }, { y: x.dtype, first: I, which: I, count: I });
};

/** Single numbers and pairs, in columns of any order or, with weights, in their own. */
const tfIdf: Make = (r) => {
  const [pool, grams] = [[0, 1, 2, 3, 1, 2, 2, 2, 3, 1], 7];
  const hasWeights = r.int(0, 1) === 1;
  const order = hasWeights ? Array.from({ length: grams }, (_, k) => k) : r.permutation(grams + 2).slice(0, grams);
  const least = r.int(1, 2);
  const attributes: Record<string, AttributeValue> = {
    ...{ mode: hasWeights ? r.pick(["IDF", "TFIDF"]) : "TF", min_gram_length: least, max_gram_length: r.int(least, 2) },
    ...{ max_skip_count: r.int(0, 3), ngram_counts: [0, 4], ngram_indexes: order, pool_int64s: pool },
    ...(hasWeights && { weights: { floats: Array.from({ length: grams }, () => Math.fround(r.int(1, 9) / 8)) } }),
  };
  const x = r.integer(r.pick([DType.int32, I]), [...(r.int(0, 1) ? [r.int(1, 3)] : []), r.int(4, 9)], 0, 3);
  return single("TfIdfVectorizer", [x], [], attributes, F);
};

const maxIndices: Make = (r) => {
  const made = pooling("MaxPool")(r);
  const [node] = made.nodes;
  const attributes = { ...node!.attributes, storage_order: r.int(0, 1) };
  return { ...made, nodes: [{ ...node!, outputs: ["y", "at"], attributes }], outputs: { y: F, at: I } };
};

const centre: Make = (r) => {
  const shape = r.shape(3);
  const axes = r.permutation(3).slice(0, r.int(1, 3));
  return single("CenterCropPad", [r.float(shape)], [int64Tensor(axes.map(() => r.int(1, 7)))], { axes }, F, 18);
};

const col2Im: Make = (r) => {
  const rank = r.int(1, 2);
  const block = Array.from({ length: rank }, () => r.int(1, 3));
  const [strides, dilations] = [block.map(() => r.int(1, 3)), block.map(() => r.int(1, 2))];
  const pads = [...block, ...block].map(() => r.int(0, 2));
  const image = block.map((k, d) => dilations[d]! * (k - 1) + 1 + r.int(0, 4));
  const columns = image.map((size, d) => {
    const free = size + pads[d]! + pads[d + rank]! - dilations[d]! * (block[d]! - 1) - 1;
    return Math.floor(free / strides[d]!) + 1;
  });
  // onnxruntime 1.30 mixes the channels of one-dimensional images.
  const channels = rank === 1 ? 1 : r.int(1, 3);
  const x = r.float([r.int(1, 2), channels * elementCount(block), elementCount(columns)]);
  return single("Col2Im", [x], [int64Tensor(image), int64Tensor(block)], { strides, dilations, pads }, F, 18);
};

const affineGrid: Make = (r) => {
  const rank = r.int(2, 3);
  const size = [r.int(1, 2), 1, ...Array.from({ length: rank }, () => r.int(2, 4))];
  const theta = r.float([size[0]!, rank, rank + 1], -2, 2);
  return single("AffineGrid", [theta], [int64Tensor(size)], { align_corners: r.int(0, 1) }, F, 20);
};

/** For MaxPool, with its second output. */
export const MAX_INDICES = maxIndices;

/** ScatterElements and ScatterND that multiply, at places known at compile time. */
export const SCATTER_PRODUCTS: readonly Make[] = [
  (r) => {
    const inputs = ["x", "i", "u"];
    const constants = { i: r.integer(I, [3, 2], -4, 3) };
    return {
      opset: 18,
      operands: { x: r.float([4, 5]), u: r.float([3, 2, 5]) },
      initializers: { i: { ...constants.i, shape: [3, 2, 1] } },
      nodes: [{ op: "ScatterND", inputs, outputs: ["y"], attributes: { reduction: "mul" } }],
      outputs: { y: F },
    };
  },
  (r) => ({
    opset: 18,
    operands: { x: r.float([4, 5]), u: r.float([3, 2]) },
    initializers: { i: r.integer(I, [3, 2], -4, 3) },
    nodes: [
      { op: "ScatterElements", inputs: ["x", "i", "u"], outputs: ["y"], attributes: { reduction: "mul", axis: 0 } },
    ],
    outputs: { y: F },
  }),
];

const dft =
  (opset: number): Make =>
  (r) => {
    const rank = r.int(2, 3);
    const shape = [...r.shape(rank, 6), r.int(1, 2)];
    const axis = r.int(0, rank - 1);
    const real = shape.at(-1) === 1;
    const inverse = real ? 0 : r.int(0, 1);
    const attributes = { inverse, onesided: real ? r.int(0, 1) : 0 };
    const length = int64Tensor([r.int(1, 8)], []);
    const made =
      opset < 20
        ? single("DFT", [r.float(shape)], [length], { ...attributes, axis }, F, opset)
        : single("DFT", [r.float(shape)], [length, int64Tensor([axis], [])], attributes, F, opset);
    return { ...made, atol: 1e-4 };
  };

const stft: Make = (r) => {
  const [size, step] = [r.int(2, 9), r.int(1, 4)];
  const x = r.float([r.int(1, 2), size + r.int(0, 12), 1]);
  const constants = [int64Tensor([step], []), r.float([size], 0, 1), int64Tensor([size], [])];
  return { ...single("STFT", [x], constants, { onesided: r.int(0, 1) }, F, 17), atol: 1e-4 };
};

const mel: Make = (r) => {
  const rate = r.pick([8000, 16000]);
  const constants = {
    bins: int64Tensor([r.int(1, 12)], []),
    length: int64Tensor([r.pick([16, 64, 100, 512])], []),
    rate: int64Tensor([rate], []),
    low: floatTensor([r.pick([0, 20, 125])], []),
    high: floatTensor([rate / 2], []),
  };
  return folded({ op: "MelWeightMatrix", inputs: Object.keys(constants), outputs: ["y"] }, constants, { y: F });
};

const tensorScatter: Make = (r) => {
  const [batch, heads, size, count, width] = [r.int(1, 3), r.int(1, 2), r.int(3, 6), r.int(1, 3), r.int(1, 3)];
  const circular = r.int(0, 1) === 1;
  const inputs = [
    r.float([batch, heads, size, width]),
    r.float([batch, heads, count, width]),
    r.integer(DType.int64, [batch], 0, circular ? size - 1 : size - count),
  ];
  return single("TensorScatter", inputs, [], circular ? { mode: "circular" } : {}, F, 24);
};

/** The operators. */
export const KNOWN_CASES: Record<string, readonly Make[]> = {
  AffineGrid: [affineGrid],
  CenterCropPad: [centre],
  Col2Im: [col2Im, col2Im],
  Compress: [compress],
  DFT: [dft(17), dft(20)],
  MelWeightMatrix: [mel],
  NonMaxSuppression: [nonMaxSuppression],
  NonZero: [nonZero],
  STFT: [stft],
  Swish: [(r) => single("Swish", [r.float(r.shape(2))], [], r.int(0, 1) ? {} : { alpha: { float: 1.5 } }, F, 24)],
  TensorScatter: [tensorScatter],
  TfIdfVectorizer: [tfIdf, tfIdf],
  Unique: [unique, unique],
};
