import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/onnx/tensorData.ts";
import { REGISTRY } from "../../src/compiler/registry.ts";
import { expectAgreement, single, type Experiment } from "../../test-support/agreement.ts";
import { Prng } from "../../test-support/float32Words.ts";
import { RandomTensors } from "../../test-support/randomTensors.ts";
import { expect } from "chai";

type Make = (r: RandomTensors) => Experiment;
const F = DType.float32;

const unary =
  (op: string, low = -4, high = 4, opset?: number, output: DType = F): Make =>
  (r) =>
    single(op, [r.float(r.shape(r.int(0, 4)), low, high)], [], {}, output, opset);

const binary =
  (op: string, output: DType = F, constant = false): Make =>
  (r) => {
    const shape = r.shape(r.int(1, 4));
    const [a, b] = [r.float(shape, 1, 4), r.float(r.broadcastable(shape), 1, 4)];
    if (constant) return single(op, [a], [b], {}, output);
    return r.int(0, 1) === 0 ? single(op, [a, b], [], {}, output) : single(op, [b, a], [], {}, output);
  };

const logical =
  (op: string): Make =>
  (r) => {
    const shape = r.shape(r.int(1, 4));
    return single(op, [r.bool(shape), r.bool(r.broadcastable(shape))], [], {}, DType.bool);
  };

const bits =
  (op: string): Make =>
  (r) => {
    const shape = r.shape(3);
    return single(
      op,
      [r.integer(DType.int32, shape, -99, 99), r.integer(DType.int32, shape, -99, 99)],
      [],
      {},
      DType.int32,
      18,
    );
  };

const reduction =
  (op: string, opset: number, low = -4): Make =>
  (r) => {
    const rank = r.int(1, 4);
    const axes = r
      .permutation(rank)
      .slice(0, r.int(1, rank))
      .map((axis) => (r.int(0, 1) ? axis : axis - rank));
    const x = r.float(r.shape(rank), low, 4);
    const asInput = opset >= (op === "ReduceSum" ? 13 : 18);
    const attributes = { keepdims: r.int(0, 1), ...(asInput ? {} : { axes }) };
    return single(op, [x], asInput ? [int64Tensor(axes)] : [], attributes, F, opset);
  };

const argument =
  (op: string): Make =>
  (r) => {
    const rank = r.int(1, 4);
    const x = r.integer(DType.int32, r.shape(rank), -2, 2);
    const attributes = { axis: r.int(-rank, rank - 1), keepdims: r.int(0, 1), select_last_index: r.int(0, 1) };
    return single(op, [x], [], attributes, DType.int64);
  };

const convolution: Make = (r) => {
  const spatial = r.int(1, 3);
  const groups = r.int(1, 3);
  const perGroup = r.int(1, 3);
  const outputs = groups * r.int(1, 3);
  const kernel = Array.from({ length: spatial }, () => r.int(1, 3));
  const size = kernel.map((k) => r.int(2 * k, 2 * k + 4));
  const pads = [...kernel, ...kernel].map((k) => r.int(0, k - 1));
  const automatic = r.int(0, 3) === 0;
  const attributes = {
    group: groups,
    kernel_shape: kernel,
    strides: kernel.map(() => r.int(1, 3)),
    ...(automatic
      ? { auto_pad: r.pick(["SAME_UPPER", "SAME_LOWER", "VALID"]) }
      : { pads, dilations: kernel.map(() => r.int(1, 2)) }),
  };
  const weights = r.float([outputs, perGroup, ...kernel]);
  const bias = r.float([outputs]);
  const x = r.float([r.int(1, 2), groups * perGroup, ...size]);
  const atRunTime = r.int(0, 2) === 0;
  const constants = r.int(0, 1) === 0 ? [weights] : [weights, bias];
  return single("Conv", atRunTime ? [x, ...constants] : [x], atRunTime ? [] : constants, attributes, F);
};

const pooling =
  (op: string): Make =>
  (r) => {
    const spatial = r.int(1, 3);
    const kernel = Array.from({ length: spatial }, () => r.int(1, 3));
    const size = kernel.map((k) => r.int(2 * k, 2 * k + 4));
    const attributes = {
      kernel_shape: kernel,
      strides: kernel.map((k) => r.int(1, k)),
      ceil_mode: r.int(0, 1),
      pads: [...kernel, ...kernel].map((k) => r.int(0, k - 1)),
      ...(op === "AveragePool" ? { count_include_pad: r.int(0, 1) } : { dilations: kernel.map(() => r.int(1, 2)) }),
    };
    return single(op, [r.float([r.int(1, 2), r.int(1, 3), ...size])], [], attributes, F, 17);
  };

const matMul: Make = (r) => {
  const batch = r.shape(r.int(0, 2), 3);
  const [m, k, n] = [r.int(1, 5), r.int(1, 6), r.int(1, 5)];
  const a = r.float(r.int(0, 4) === 0 ? [k] : [...batch, m, k]);
  const b = r.float(r.int(0, 4) === 0 ? [k] : [...r.broadcastable(batch), k, n]);
  return r.int(0, 1) === 0 ? single("MatMul", [a, b], [], {}, F) : single("MatMul", [a], [b], {}, F);
};

const gemm: Make = (r) => {
  const [m, k, n] = [r.int(1, 5), r.int(1, 6), r.int(1, 5)];
  const [transA, transB] = [r.int(0, 1), r.int(0, 1)];
  const a = r.float(transA ? [k, m] : [m, k]);
  const b = r.float(transB ? [n, k] : [k, n]);
  const c = r.float(r.broadcastable([m, n]));
  const scale: Record<string, { float: number }> =
    r.int(0, 1) === 0 ? { alpha: { float: 0.5 }, beta: { float: 3 } } : {};
  return single("Gemm", r.int(0, 1) ? [a] : [a, b, c], r.int(0, 1) ? [b, c] : [], { transA, transB, ...scale }, F);
};
const gemmChecked: Make = (r) => {
  const made = gemm(r);
  const total = Object.keys(made.operands).length + Object.keys(made.initializers ?? {}).length;
  return total === 3 ? made : gemmChecked(r);
};

const alongAxis =
  (op: string, opset: number): Make =>
  (r) => {
    const rank = r.int(1, 4);
    return single(op, [r.float(r.shape(rank))], [], { axis: r.int(opset < 11 ? 0 : -rank, rank - 1) }, F, opset);
  };

const slice: Make = (r) => {
  const rank = r.int(1, 4);
  const shape = r.shape(rank, 7).map((dim) => dim + 1);
  const axes = r.permutation(rank).slice(0, r.int(1, rank));
  const steps = axes.map(() => r.pick([1, 1, 2, -1, -2]));
  const starts = axes.map((axis, k) => (steps[k]! > 0 ? r.int(0, 1) : shape[axis]! - 1));
  const ends = axes.map((axis, k) =>
    steps[k]! > 0 ? r.pick([shape[axis]!, -1 + shape[axis]!, 2 ** 31]) : r.pick([0, -(2 ** 31)]),
  );
  return single(
    "Slice",
    [r.float(shape)],
    [starts, ends, axes, steps].map((list) => int64Tensor(list)),
    {},
    F,
  );
};

const pad: Make = (r) => {
  const rank = r.int(1, 4);
  const pads = Array.from({ length: 2 * rank }, () => r.int(-1, 2));
  const shape = r.shape(rank).map((dim) => dim + 2);
  return single("Pad", [r.float(shape)], [int64Tensor(pads), floatTensor([1.5], [])], {}, F);
};

const gather =
  (constant: boolean): Make =>
  (r) => {
    const rank = r.int(1, 3);
    const shape = r.shape(rank);
    const axis = r.int(0, rank - 1);
    const indices = r.integer(DType.int64, r.shape(r.int(0, 2)), -shape[axis]!, shape[axis]! - 1);
    const x = r.float(shape);
    return constant
      ? single("Gather", [x], [indices], { axis }, F)
      : single("Gather", [x, indices], [], { axis: axis - rank }, F);
  };

const concat: Make = (r) => {
  const rank = r.int(1, 4);
  const axis = r.int(0, rank - 1);
  const shape = r.shape(rank);
  const part = () => r.float(shape.map((dim, d) => (d === axis ? r.int(1, 4) : dim)));
  const parts = Array.from({ length: r.pick([1, 2, 3, 15]) }, part);
  return single(
    "Concat",
    parts.slice(0, -1).length === 0 ? parts : parts.slice(0, -1),
    parts.slice(0, -1).length === 0 ? [] : parts.slice(-1),
    { axis: axis - rank },
    F,
  );
};

const split: Make = (r) => {
  const rank = r.int(1, 3);
  const axis = r.int(0, rank - 1);
  const sizes = [r.int(1, 3), r.int(1, 3), r.int(1, 3)];
  const shape = r.shape(rank).map((dim, d) => (d === axis ? sizes[0]! + sizes[1]! + sizes[2]! : dim));
  return {
    operands: { x: r.float(shape) },
    initializers: { sizes: int64Tensor(sizes) },
    nodes: [{ op: "Split", inputs: ["x", "sizes"], outputs: ["a", "b", "c"], attributes: { axis } }],
    outputs: { a: F, b: F, c: F },
  };
};

const batchNormalization: Make = (r) => {
  const shape = [r.int(1, 2), r.int(1, 5), ...r.shape(r.int(0, 2))];
  const vector = (low: number) => r.float([shape[1]!], low, 4);
  return single(
    "BatchNormalization",
    [r.float(shape)],
    [vector(-4), vector(-4), vector(-4), vector(1)],
    { epsilon: { float: 0.01 } },
    F,
    15,
  );
};

const layerNormalization: Make = (r) => {
  const rank = r.int(2, 4);
  const shape = r.shape(rank).map((dim) => dim + 2);
  const axis = r.int(1, rank - 1);
  const own = shape.slice(axis);
  return { ...single("LayerNormalization", [r.float(shape)], [r.float(own), r.float(own)], { axis }, F), atol: 1e-5 };
};

const clip =
  (opset: number): Make =>
  (r) =>
    opset < 11
      ? single("Clip", [r.float(r.shape(2))], [], { min: { float: -1 }, max: { float: 1.5 } }, F, opset)
      : single(
          "Clip",
          [r.float(r.shape(2))],
          [floatTensor([-1], []), floatTensor([1.5], [])].slice(0, r.int(0, 2)),
          {},
          F,
          opset,
        );

const reshape: Make = (r) => {
  const [a, b, c] = [r.int(1, 4), r.int(1, 4), r.int(1, 4)];
  const targets = [[-1], [a * b, c], [a, -1, 1], [0, -1], [c, b, a], [1, a, 1, b * c], [c * b, a]];
  return single("Reshape", [r.float([a, b, c])], [int64Tensor(r.pick(targets))], {}, F);
};

const CASES: Record<string, readonly Make[]> = {
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
  MaxPool: [pooling("MaxPool")],
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
  ],
  Or: [logical("Or")],
  PRelu: [(r) => single("PRelu", [r.float([2, 3])], [r.float([3])], {}, F)],
  Pad: [pad],
  Pow: [
    (r) => single("Pow", [r.float(r.shape(2))], [floatTensor([2], [])], {}, F),
    (r) => single("Pow", [r.float([6], 1, 4), r.float([6])], [], {}, F),
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

describe("operators against onnxruntime", () => {
  it("everyOperatorOfTheTable_hasACase", () => {
    expect(Object.keys(CASES).sort()).to.deep.equal(REGISTRY.map(([operator]) => operator).sort());
  });

  for (const [operator, makers] of Object.entries(CASES)) {
    it(`${operator}_agrees`, async () => {
      const random = new RandomTensors(new Prng([...operator].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7)));
      for (const make of makers)
        for (let round = 0; round < 8; round++) {
          const experiment = make(random);
          await expectAgreement(
            experiment,
            `${operator} ${round} ${JSON.stringify(experiment.nodes.map((n) => n.attributes))}`,
          );
        }
    });
  }
});
