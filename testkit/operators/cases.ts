import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { ATTENTION_CASES } from "./attentionCases.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import {
  F,
  alongAxis,
  argument,
  batchNormalization,
  binary,
  bits,
  clip,
  concat,
  convolution,
  gather,
  gemmChecked,
  layerNormalization,
  logical,
  matMul,
  pad,
  pooling,
  reduction,
  reshape,
  slice,
  split,
  unary,
  type Make,
} from "./makers.ts";
import { KNOWN_CASES, MAX_INDICES } from "./knownCases.ts";
import { LATEST_CASES, narrowCast } from "./latestCases.ts";
import { LOSS_CASES } from "./lossCases.ts";
import { floatRange, integerPowers, MATH_CASES } from "./mathCases.ts";
import { SAMPLING_CASES } from "./samplingCases.ts";
import { EINSUM_TOP_K_RECURRENT_CASES } from "./einsumTopKRecurrentCases.ts";
import { PAD_CASES, SPATIAL_CASES } from "./spatialCases.ts";
import { QUANTISED_CASES } from "./quantisedCases.ts";

/** Experiments for each operator in the table, covering attributes, opsets and shapes. */
export const CASES: Record<string, readonly Make[]> = {
  ...KNOWN_CASES,
  ...LATEST_CASES,
  ...LOSS_CASES,
  ...SAMPLING_CASES,
  ...MATH_CASES,
  ...QUANTISED_CASES,
  ...ATTENTION_CASES,
  Abs: [unary("Abs")],
  Add: [binary("Add"), binary("Add", F, true)],
  And: [logical("And")],
  ArgMax: [argument("ArgMax")],
  ArgMin: [argument("ArgMin")],
  AveragePool: [pooling("AveragePool")],
  BatchNormalization: [batchNormalization],
  BitShift: [
    (r) =>
      single(
        "BitShift",
        [r.integer(DType.uint8, [9], 0, 255), r.integer(DType.uint8, [9], 0, 7)],
        [],
        { direction: r.pick(["LEFT", "RIGHT"]) },
        DType.uint8,
      ),
  ],
  BitwiseAnd: [bits("BitwiseAnd")],
  BitwiseNot: [(r) => single("BitwiseNot", [r.integer(DType.int32, [5], -99, 99)], [], {}, DType.int32, 18)],
  BitwiseOr: [bits("BitwiseOr")],
  BitwiseXor: [bits("BitwiseXor")],
  Cast: [
    (r) => single("Cast", [r.float(r.shape(2), -100, 100)], [], { to: DType.int32 }, DType.int32),
    (r) => single("Cast", [r.integer(DType.uint8, r.shape(2), 0, 255)], [], { to: F }, F),
    (r) => single("Cast", [r.integer(DType.int64, r.shape(2), -2, 2)], [], { to: DType.bool }, DType.bool),
    (r) => single("Cast", [r.integer(DType.int32, r.shape(2), -1000, 1000)], [], { to: DType.int8 }, DType.int8),
    narrowCast,
  ],
  CastLike: [(r) => single("CastLike", [r.float([4]), r.integer(DType.int32, [1], 0, 1)], [], {}, DType.int32)],
  Ceil: [unary("Ceil")],
  Clip: [clip(9), clip(12)],
  Concat: [concat],
  Constant: [
    (r): Experiment => ({
      operands: { x: r.float([2, 3]) },
      nodes: [
        { op: "Constant", inputs: [], outputs: ["a"], attributes: { value: { tensor: r.float([3]) } } },
        { op: "Constant", inputs: [], outputs: ["b"], attributes: { value_float: { float: 2.5 } } },
        { op: "Constant", inputs: [], outputs: ["c"], attributes: { value_ints: [3, 2] } },
        { op: "Add", inputs: ["x", "a"], outputs: ["d"] },
        { op: "Mul", inputs: ["d", "b"], outputs: ["e"] },
        { op: "Reshape", inputs: ["e", "c"], outputs: ["y"] },
      ],
      outputs: { y: F, a: F },
    }),
  ],
  ...SPATIAL_CASES,
  ...EINSUM_TOP_K_RECURRENT_CASES,
  ConstantOfShape: [
    (r) => ({
      operands: { x: r.float([2, 3]) },
      nodes: [
        { op: "Shape", inputs: ["x"], outputs: ["s"] },
        { op: "ConstantOfShape", inputs: ["s"], outputs: ["k"], attributes: { value: { tensor: floatTensor([1.5]) } } },
        { op: "Add", inputs: ["x", "k"], outputs: ["y"] },
      ],
      outputs: { y: F, k: F },
    }),
  ],
  Conv: [convolution, convolution, convolution],
  CumSum: [
    (r) =>
      single(
        "CumSum",
        [r.float(r.shape(3))],
        [int64Tensor([r.int(-3, 2)], [])],
        { exclusive: r.int(0, 1), reverse: r.int(0, 1) },
        F,
      ),
  ],
  DepthToSpace: [
    (r) => single("DepthToSpace", [r.float([1, 8, 2, 3])], [], { blocksize: 2, mode: r.pick(["DCR", "CRD"]) }, F),
  ],
  Div: [binary("Div"), binary("Div", F, true)],
  Dropout: [(r) => single("Dropout", [r.float([3])], [], {}, F)],
  Equal: [binary("Equal", DType.bool)],
  Erf: [unary("Erf")],
  Exp: [unary("Exp")],
  Expand: [
    (r) => single("Expand", [r.float([3, 1])], [int64Tensor([r.int(1, 3), r.pick([1, 3]), r.int(1, 4)])], {}, F),
  ],
  Flatten: [(r) => single("Flatten", [r.float(r.shape(3))], [], { axis: r.int(-3, 3) }, F)],
  Floor: [unary("Floor")],
  Gather: [gather(true), gather(false)],
  GatherElements: [
    (r) => single("GatherElements", [r.float([3, 4]), r.integer(DType.int64, [2, 4], -3, 2)], [], { axis: 0 }, F),
  ],
  GatherND: [
    (r) => single("GatherND", [r.float([2, 3, 4]), r.integer(DType.int64, [2, 2, 1], 0, 2)], [], { batch_dims: 1 }, F),
  ],
  Gelu: [(r) => single("Gelu", [r.float(r.shape(2))], [], { approximate: r.pick(["none", "tanh"]) }, F, 20)],
  Gemm: [gemmChecked, gemmChecked],
  GlobalAveragePool: [(r) => single("GlobalAveragePool", [r.float(r.shape(r.int(3, 5)))], [], {}, F)],
  GlobalMaxPool: [(r) => single("GlobalMaxPool", [r.float(r.shape(r.int(3, 5)))], [], {}, F)],
  Greater: [binary("Greater", DType.bool)],
  GreaterOrEqual: [binary("GreaterOrEqual", DType.bool)],
  HardSigmoid: [
    (r) =>
      single(
        "HardSigmoid",
        [r.float(r.shape(2))],
        [],
        r.int(0, 1) ? {} : { alpha: { float: 0.25 }, beta: { float: 0.125 } },
        F,
      ),
  ],
  HardSwish: [unary("HardSwish")],
  Hardmax: [alongAxis("Hardmax", 13), alongAxis("Hardmax", 9)],
  Identity: [unary("Identity")],
  InstanceNormalization: [
    (r) => ({
      ...single("InstanceNormalization", [r.float([2, 3, 5, 4])], [r.float([3]), r.float([3])], {}, F),
      atol: 1e-5,
    }),
  ],
  IsInf: [
    (r) =>
      single("IsInf", [floatTensor([Infinity, -Infinity, 1, NaN])], [], { detect_negative: r.int(0, 1) }, DType.bool),
  ],
  IsNaN: [() => single("IsNaN", [floatTensor([Infinity, NaN, 1])], [], {}, DType.bool)],
  LayerNormalization: [layerNormalization],
  LeakyRelu: [(r) => single("LeakyRelu", [r.float(r.shape(2))], [], { alpha: { float: 0.1 } }, F), unary("LeakyRelu")],
  Less: [binary("Less", DType.bool)],
  LessOrEqual: [binary("LessOrEqual", DType.bool)],
  Log: [unary("Log", 1, 4)],
  LogSoftmax: [alongAxis("LogSoftmax", 13), alongAxis("LogSoftmax", 9)],
  MatMul: [matMul, matMul, matMul],
  Max: [(r) => single("Max", [r.float([2, 3]), r.float([3]), r.float([2, 1])], [], {}, F)],
  MaxPool: [pooling("MaxPool"), MAX_INDICES],
  Mean: [(r) => single("Mean", [r.float([2, 3]), r.float([3]), r.float([2, 1])], [], {}, F)],
  Min: [(r) => single("Min", [r.float([2, 3]), r.float([3]), r.float([2, 1])], [], {}, F)],
  Mod: [
    (r) => single("Mod", [r.integer(DType.int32, [9], -9, 9), r.integer(DType.int32, [9], 1, 5)], [], {}, DType.int32),
    (r) => single("Mod", [r.float([9]), r.float([9], 1, 3)], [], { fmod: 1 }, F),
  ],
  Mul: [binary("Mul"), binary("Mul", F, true)],
  Neg: [unary("Neg")],
  Not: [(r) => single("Not", [r.bool(r.shape(2))], [], {}, DType.bool)],
  OneHot: [
    (r) =>
      single(
        "OneHot",
        [r.integer(DType.int64, [2, 3], -6, 6)],
        [int64Tensor([5], []), floatTensor([0.5, 2])],
        { axis: r.int(-1, 2) },
        F,
      ),
    (r) => single("OneHot", [r.integer(DType.int64, [3], 0, 4)], [floatTensor([5]), floatTensor([0, 1])], {}, F),
  ],
  Or: [logical("Or")],
  PRelu: [(r) => single("PRelu", [r.float([2, 3])], [r.float([3])], {}, F)],
  Pad: [pad, ...PAD_CASES],
  Pow: [
    (r) => single("Pow", [r.float(r.shape(2))], [floatTensor([2], [])], {}, F),
    (r) => single("Pow", [r.float([6], 1, 4), r.float([6])], [], {}, F),
    ...integerPowers,
  ],
  Range: [
    (r) => ({
      operands: { x: r.float([4]) },
      initializers: { a: int64Tensor([3], []), b: int64Tensor([-1], []), d: int64Tensor([-1], []) },
      nodes: [
        { op: "Range", inputs: ["a", "b", "d"], outputs: ["i"] },
        { op: "Gather", inputs: ["x", "i"], outputs: ["y"] },
      ],
      outputs: { y: F },
    }),
    floatRange,
  ],
  Reciprocal: [unary("Reciprocal", 1, 4)],
  ReduceL1: [reduction("ReduceL1", 17)],
  ReduceL2: [reduction("ReduceL2", 18)],
  ReduceLogSum: [reduction("ReduceLogSum", 17, 1)],
  ReduceMax: [reduction("ReduceMax", 17), reduction("ReduceMax", 18)],
  ReduceMean: [reduction("ReduceMean", 11), reduction("ReduceMean", 18)],
  ReduceMin: [reduction("ReduceMin", 17)],
  ReduceSum: [reduction("ReduceSum", 11), reduction("ReduceSum", 13)],
  ReduceSumSquare: [reduction("ReduceSumSquare", 17)],
  Relu: [unary("Relu")],
  Reshape: [reshape, reshape],
  Round: [unary("Round")],
  Shape: [(r) => single("Shape", [r.float([2, 3, 4])], [], { start: r.int(-3, 1), end: r.int(2, 5) }, DType.int64)],
  Shrink: [(r) => single("Shrink", [r.float([9])], [], { bias: { float: 0.25 }, lambd: { float: 1 } }, F)],
  Sigmoid: [unary("Sigmoid")],
  Sign: [unary("Sign")],
  Size: [(r) => single("Size", [r.float([2, 3])], [], {}, DType.int64)],
  Slice: [slice, slice, (r) => single("Slice", [r.float([4, 5])], [], { starts: [1, -3], ends: [9, -1] }, F, 9)],
  Softmax: [alongAxis("Softmax", 13), alongAxis("Softmax", 9)],
  Softsign: [unary("Softsign")],
  SpaceToDepth: [(r) => single("SpaceToDepth", [r.float([1, 2, 4, 6])], [], { blocksize: 2 }, F)],
  Split: [split],
  Sqrt: [unary("Sqrt", 0, 4)],
  Squeeze: [
    (r) => single("Squeeze", [r.float([1, 3, 1])], [int64Tensor([-1])], {}, F, 13),
    (r) => single("Squeeze", [r.float([1, 3, 1])], [], r.int(0, 1) ? {} : { axes: [0] }, F, 11),
  ],
  Sub: [binary("Sub"), binary("Sub", F, true)],
  Sum: [(r) => single("Sum", [r.float([2, 3]), r.float([3]), r.float([2, 1])], [], {}, F)],
  Tanh: [unary("Tanh")],
  ThresholdedRelu: [unary("ThresholdedRelu")],
  Tile: [(r) => single("Tile", [r.float([2, 1, 3])], [int64Tensor([r.int(1, 3), r.int(1, 3), r.int(1, 3)])], {}, F)],
  Transpose: [
    (r) => {
      const rank = r.int(1, 5);
      return single("Transpose", [r.float(r.shape(rank, 3))], [], { perm: r.permutation(rank) }, F);
    },
  ],
  Trilu: [(r) => single("Trilu", [r.float([2, 4, 5])], [int64Tensor([r.int(-3, 3)], [])], { upper: r.int(0, 1) }, F)],
  Unsqueeze: [
    (r) => single("Unsqueeze", [r.float([3, 2])], [int64Tensor([0, -1])], {}, F, 13),
    (r) => single("Unsqueeze", [r.float([3, 2])], [], { axes: [0, 2] }, F, 11),
  ],
  Where: [(r) => single("Where", [r.bool([3, 1]), r.float([3, 4]), r.float([4])], [], {}, F)],
  Xor: [logical("Xor")],
};
