/** Random experiments for mathematical functions on elements, window functions, norms and products. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import { F, pooling, reduction, unary, type Make } from "./makers.ts";

const window =
  (op: string): Make =>
  (r) => ({
    operands: { x: r.float([1]) },
    initializers: { n: int64Tensor([r.int(2, 20)], []) },
    nodes: [
      { op, inputs: ["n"], outputs: ["w"], attributes: { periodic: r.int(0, 1) } },
      { op: "Add", inputs: ["w", "x"], outputs: ["y"] },
    ],
    outputs: { y: F, w: F },
  });

const lpPool: Make = (r) => {
  const made = pooling("AveragePool")(r);
  const [node] = made.nodes;
  const { kernel_shape, strides, pads } = node!.attributes!;
  return {
    ...made,
    nodes: [
      {
        ...node!,
        op: "LpPool",
        attributes: { kernel_shape: kernel_shape!, strides: strides!, pads: pads!, p: r.int(1, 3) },
      },
    ],
  };
};

const range = (start: number, limit: number, delta: number): Experiment => {
  const scalar = (value: number) => floatTensor([value], []);
  return {
    operands: { x: floatTensor([1]) },
    initializers: { a: scalar(start), b: scalar(limit), d: scalar(delta) },
    nodes: [
      { op: "Range", inputs: ["a", "b", "d"], outputs: ["i"] },
      { op: "Mul", inputs: ["x", "i"], outputs: ["y"] },
    ],
    outputs: { y: F },
    rtol: 0,
  };
};

/** Ranges in float32, where the values depend on the roundings' order. */
export const floatRange: Make = (r) => range(r.int(-9, 9) / 10, r.int(10, 40) / 10, r.int(1, 9) / 10);

const groups =
  (opset: number): Make =>
  (r) => {
    const [count, each] = [r.int(1, 3), r.int(1, 3)];
    const size = opset < 21 ? count : count * each;
    const x = r.float([r.int(1, 2), count * each, 3, r.int(2, 4)]);
    const made = single("GroupNormalization", [x], [r.float([size]), r.float([size])], { num_groups: count }, F, opset);
    return { ...made, atol: 1e-5 };
  };

const power =
  (exponent: DType, constant: boolean): Make =>
  (r) => {
    const shape = r.shape(2);
    const base = r.integer(DType.int32, shape, -5, 5);
    const y = r.integer(exponent, r.broadcastable(shape), 0, 9);
    return single("Pow", constant ? [base] : [base, y], constant ? [y] : [], {}, DType.int32);
  };

/** Integers to integer powers, known at compile time or not. */
export const integerPowers: readonly Make[] = [
  power(DType.int32, false),
  power(DType.int64, false),
  power(DType.int64, true),
  (r) => single("Pow", [r.integer(DType.int32, [3, 4], 1, 9), floatTensor([0.5, 2, 3.25, 0])], [], {}, DType.int32),
];

/** The number of elements in no dimensions: an empty list of sizes, folded. */
const productOfNothing: Make = (r): Experiment => ({
  operands: { x: r.float(r.shape(2)) },
  initializers: { zero: int64Tensor([0]) },
  nodes: [
    { op: "Shape", inputs: ["x"], outputs: ["s"] },
    { op: "Slice", inputs: ["s", "zero", "zero"], outputs: ["e"] },
    { op: "ReduceProd", inputs: ["e"], outputs: ["n"], attributes: { keepdims: r.int(0, 1) } },
    { op: "Cast", inputs: ["n"], outputs: ["f"], attributes: { to: F } },
    { op: "Mul", inputs: ["x", "f"], outputs: ["y"] },
  ],
  outputs: { y: F },
});

/** No one else draws the same numbers: test/compiler/operators/random.test.ts. */
const RANDOM = ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"];

export const MATH_CASES: Record<string, readonly Make[]> = {
  ...Object.fromEntries(RANDOM.map((operator) => [operator, []] as const)),
  Acos: [unary("Acos", -1, 1)],
  Acosh: [unary("Acosh", 1, 9)],
  Asin: [unary("Asin", -1, 1)],
  Asinh: [unary("Asinh")],
  Atan: [unary("Atan")],
  Atanh: [(r) => single("Atanh", [floatTensor([-0.75, 0, 0.5, r.int(1, 63) / 64])], [], {}, F)],
  BlackmanWindow: [window("BlackmanWindow")],
  Celu: [(r) => single("Celu", [r.float(r.shape(2))], [], { alpha: { float: r.pick([0.5, 2]) } }, F), unary("Celu")],
  Cos: [unary("Cos")],
  Cosh: [unary("Cosh")],
  Det: [
    (r) => {
      const order = r.int(1, 4);
      return single("Det", [r.float([...r.shape(r.int(0, 2), 3), order, order])], [], {}, F);
    },
  ],
  Elu: [(r) => single("Elu", [r.float(r.shape(2))], [], { alpha: { float: 0.5 } }, F), unary("Elu")],
  EyeLike: [
    (r) => single("EyeLike", [r.float(r.shape(2))], [], { k: r.int(-3, 3) }, F),
    (r) => single("EyeLike", [r.float(r.shape(2))], [], { dtype: DType.int64 }, DType.int64),
  ],
  GlobalLpPool: [(r) => single("GlobalLpPool", [r.float(r.shape(r.int(3, 5)))], [], { p: r.int(1, 3) }, F)],
  GroupNormalization: [groups(18), groups(21)],
  HammingWindow: [window("HammingWindow")],
  HannWindow: [window("HannWindow")],
  LRN: [
    (r) =>
      single(
        "LRN",
        [r.float([r.int(1, 2), r.int(1, 7), 2, 3])],
        [],
        { size: r.pick([1, 3, 5]), alpha: { float: 0.5 }, bias: { float: 2 } },
        F,
      ),
  ],
  LpNormalization: [
    (r) => single("LpNormalization", [r.float(r.shape(3))], [], { axis: r.int(-3, 2), p: r.int(1, 2) }, F),
  ],
  LpPool: [lpPool],
  MeanVarianceNormalization: [
    (r) => ({ ...single("MeanVarianceNormalization", [r.float([2, 3, 3, 4])], [], {}, F), atol: 1e-5 }),
  ],
  Mish: [(r) => single("Mish", [r.float(r.shape(2))], [], {}, F, 18)],
  ReduceLogSumExp: [
    reduction("ReduceLogSumExp", 17),
    () => single("ReduceLogSumExp", [floatTensor([-Infinity, -Infinity, 1, Infinity], [2, 2])], [], { axes: [1] }, F),
  ],
  ReduceProd: [reduction("ReduceProd", 17), reduction("ReduceProd", 18), productOfNothing],
  RMSNormalization: [
    (r) => single("RMSNormalization", [r.float([2, 3, r.int(2, 9)])], [r.float([1])], { axis: r.int(1, 2) }, F, 23),
  ],
  Selu: [unary("Selu"), (r) => single("Selu", [r.float([5])], [], { alpha: { float: 2 }, gamma: { float: 3 } }, F)],
  SimplifiedLayerNormalization: [
    (r) => single("SimplifiedLayerNormalization", [r.float([2, 3, 5])], [r.float([5])], { axis: -1 }, F),
  ],
  Sin: [unary("Sin")],
  Sinh: [unary("Sinh")],
  Softplus: [unary("Softplus", -20, 20)],
  Tan: [unary("Tan", -1, 1)],
};
