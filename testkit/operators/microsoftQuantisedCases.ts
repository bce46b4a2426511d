/** Random experiments for com.microsoft's quantised operators. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { F, type Make } from "./makers.ts";
import { fused } from "./microsoftCases.ts";
import { MICROSOFT_GRID_SAMPLE } from "./samplingCases.ts";

const eight = (r: RandomTensors): DType => r.pick([DType.uint8, DType.int8]);
const data = (r: RandomTensors, dtype: DType, shape: readonly number[]): TensorData =>
  dtype === DType.uint8 ? r.integer(dtype, shape, 0, 255) : r.integer(dtype, shape, -128, 127);
const scale = (r: RandomTensors, shape: readonly number[] = []): TensorData => r.float(shape, 1 / 16, 1);
const zero = (r: RandomTensors, dtype: DType): TensorData => r.integer(dtype, [], 0, 100);

/** Some inputs as constants of the model. */
function constant(made: Experiment, ...names: readonly string[]): Experiment {
  const { operands, initializers } = made;
  const fixed = Object.entries(operands).filter(([name]) => names.includes(name));
  const free = Object.entries(operands).filter(([name]) => !names.includes(name));
  return {
    ...made,
    operands: Object.fromEntries(free),
    initializers: { ...initializers, ...Object.fromEntries(fixed) },
  };
}

/** Quantised to one unit: the operators that onnxruntime has tables or fused roundings for. */
const near = (made: Experiment): Experiment => ({ ...made, units: 1 });

const binary =
  (op: string): Make =>
  (r) => {
    const dtype = eight(r);
    const shape = r.shape(3);
    const a = { a: data(r, dtype, shape), as: scale(r), az: zero(r, dtype) };
    const b = { b: data(r, dtype, r.broadcastable(shape)), bs: scale(r), bz: zero(r, dtype) };
    const made = fused(
      op,
      { ...a, ...b, cs: floatTensor([r.int(1, 64) / 16], []), cz: zero(r, dtype) },
      {},
      { y: dtype },
    );
    return near(constant(made, "as", "az", "bs", "bz", "cs", "cz"));
  };

const oneInput =
  (op: string, attributes: (r: RandomTensors) => Readonly<Record<string, AttributeValue>> = () => ({})): Make =>
  (r) => {
    const dtype = eight(r);
    const inputs = { x: data(r, dtype, r.shape(3)), s: scale(r), z: zero(r, dtype), ys: scale(r), yz: zero(r, dtype) };
    return near(constant(fused(op, inputs, attributes(r), { y: dtype }), "s", "z", "ys", "yz"));
  };

const softmax: Make = (r) => {
  const opset = r.pick([12, 13]);
  const made = oneInput("QLinearSoftmax", () => ({ axis: r.int(-2, 2), opset }))(r);
  const probabilities = floatTensor([1 / 255], []);
  // onnxruntime wraps what lies above the greatest value around: no probability does here.
  const dtype = made.outputs["y"]!;
  const lowest = dtype === DType.int8 ? r.integer(dtype, [], -128, -128) : r.integer(dtype, [], 0, 0);
  const s = floatTensor([r.int(1, 8) / 64], []);
  return { ...made, initializers: { ...made.initializers, ys: probabilities, yz: lowest, s } };
};

const pooled =
  (op: string): Make =>
  (r) => {
    const dtype = eight(r);
    const channels_last = r.int(0, 1);
    const global = op === "QLinearGlobalAveragePool";
    const [h, w, c] = [r.int(3, 6), r.int(3, 6), r.int(1, 3)];
    const shape = channels_last || op === "NhwcMaxPool" ? [2, h, w, c] : [2, c, h, w];
    const scales = { s: scale(r), z: zero(r, dtype), ys: scale(r), yz: zero(r, dtype) };
    const inputs = { x: data(r, dtype, shape), ...(op === "NhwcMaxPool" ? {} : scales) };
    const kernel_shape = [r.int(1, 3), r.int(1, 3)];
    const pads = [...kernel_shape, ...kernel_shape].map((k) => r.int(0, k - 1));
    const windows = { kernel_shape, strides: [r.int(1, 2), r.int(1, 2)], pads, ceil_mode: r.int(0, 1) };
    const more: Record<string, number> =
      op === "QLinearAveragePool" ? { count_include_pad: windows.ceil_mode === 0 ? r.int(0, 1) : 0 } : {};
    const layout: Record<string, number> = op === "NhwcMaxPool" ? {} : { channels_last };
    const attributes: Record<string, AttributeValue> = { ...layout, ...(global ? {} : windows), ...more };
    const made = fused(op, inputs, attributes, { y: dtype });
    return near(constant(made, "s", "z", "ys", "yz"));
  };

const concat: Make = (r) => {
  const dtype = eight(r);
  const [rows, columns] = [r.int(1, 3), r.int(1, 4)];
  const parts = [0, 1, 2].flatMap((k) => [
    [`x${k}`, data(r, dtype, [rows, r.int(1, 3), columns])] as const,
    [`s${k}`, scale(r)] as const,
    [`z${k}`, zero(r, dtype)] as const,
  ]);
  const made = fused(
    "QLinearConcat",
    { ys: scale(r), yz: zero(r, dtype), ...Object.fromEntries(parts) },
    { axis: 1 },
    { y: dtype },
  );
  return near(constant(made, "ys", "yz", "s0", "z0", "s1", "z1", "s2", "z2"));
};

const where: Make = (r) => {
  const dtype = eight(r);
  const inputs = {
    c: r.bool([2, 3]),
    x: data(r, dtype, [2, 3]),
    xs: scale(r),
    xz: zero(r, dtype),
    y0: data(r, dtype, [3]),
    ys: scale(r),
    yz: zero(r, dtype),
    zs: scale(r),
    zz: zero(r, dtype),
  };
  return near(constant(fused("QLinearWhere", inputs, {}, { y: dtype }), "xs", "xz", "ys", "yz", "zs", "zz"));
};

const toFloat: Make = (r) => {
  const [m, k, n] = [r.int(1, 4), r.int(1, 6), r.int(1, 4)];
  const type = DType.uint8;
  const perColumn = r.int(0, 1) === 1;
  const inputs = {
    a: data(r, type, [m, k]),
    b: r.integer(DType.uint8, [k, n], 0, 255),
    as: scale(r),
    bs: scale(r, perColumn ? [n] : []),
    az: r.int(0, 1) ? zero(r, type) : undefined,
    bz: r.int(0, 1) ? r.integer(DType.uint8, perColumn ? [n] : [], 0, 100) : undefined,
    bias: r.int(0, 1) ? r.float([n]) : undefined,
  };
  return fused("MatMulIntegerToFloat", inputs);
};

const dynamic: Make = (r) => {
  const [m, k, n] = [r.int(1, 4), r.int(1, 6), r.int(1, 4)];
  const inputs = {
    a: r.float([2, m, k]),
    b: r.integer(DType.uint8, [k, n], 0, 255),
    bs: scale(r),
    bz: r.int(0, 1) ? zero(r, DType.uint8) : undefined,
    bias: r.int(0, 1) ? r.float([n]) : undefined,
  };
  return fused("DynamicQuantizeMatMul", inputs);
};

const gemm: Make = (r) => {
  const [m, k, n] = [r.int(1, 4), r.int(1, 6), r.int(1, 4)];
  const [transA, transB, quantised] = [r.int(0, 1), r.int(0, 1), r.int(0, 1) === 1];
  const inputs = {
    a: data(r, DType.uint8, transA ? [k, m] : [m, k]),
    as: scale(r),
    az: zero(r, DType.uint8),
    b: data(r, DType.uint8, transB ? [n, k] : [k, n]),
    bs: scale(r),
    bz: zero(r, DType.uint8),
    c: r.int(0, 1) ? r.integer(DType.int32, [n], -500, 500) : undefined,
    ys: quantised ? floatTensor([r.int(16, 640) / 16], []) : undefined,
    yz: quantised ? zero(r, DType.uint8) : undefined,
  };
  const attributes = { transA, transB, alpha: { float: r.pick([1, 0.5]) } };
  return near(fused("QGemm", inputs, attributes, { y: quantised ? DType.uint8 : F }));
};

const attention: Make = (r) => {
  const [batch, length, width, heads, size] = [r.int(1, 2), r.int(1, 4), r.int(1, 5), r.int(1, 2), r.int(1, 3)];
  const total = 3 * heads * size;
  const inputs = {
    x: data(r, DType.uint8, [batch, length, width]),
    w: data(r, DType.uint8, [width, total]),
    b: r.float([total]),
    xs: floatTensor([1 / 64], []),
    ws: floatTensor([1 / 128], []),
    mask: undefined,
    xz: zero(r, DType.uint8),
    wz: zero(r, DType.uint8),
  };
  return fused("QAttention", inputs, { num_heads: heads, unidirectional: r.int(0, 1) });
};

const nBits: Make = (r) => {
  const bits = r.pick([4, 4, 8]);
  const [block_size, N] = [r.pick([16, 32]), r.int(1, 4)];
  const K = block_size * r.int(1, 2) + r.pick([0, 8]);
  const blocks = Math.ceil(K / block_size);
  const zeros = r.pick(["none", "packed"]);
  const inputs = {
    a: r.float([2, 3, K]),
    b: r.integer(DType.uint8, [N, blocks, (block_size * bits) / 8], 0, 255),
    s: r.float([N * blocks], 1 / 16, 1),
    z: zeros === "none" ? undefined : r.integer(DType.uint8, [N * Math.ceil((blocks * bits) / 8)], 0, 255),
    g: undefined,
    bias: r.int(0, 1) ? r.float([N]) : undefined,
  };
  return constant(fused("MatMulNBits", inputs, { K, N, bits, block_size }), "b", "s", "z", "bias");
};

const gatherBlocks: Make = (r) => {
  const bits = r.pick([4, 8]);
  const [rows, blocks, block_size] = [r.int(2, 5), r.int(1, 2), 16];
  const packedZeros = r.int(0, 1) === 1;
  const inputs = {
    d: r.integer(DType.uint8, [rows, (blocks * block_size * bits) / 8], 0, 255),
    i: r.integer(DType.int64, [2, 3], 0, rows - 1),
    s: r.float([rows, blocks], 1 / 16, 1),
    z: packedZeros ? r.integer(DType.uint8, [rows, Math.ceil((blocks * bits) / 8)], 0, 255) : undefined,
  };
  const attributes = { bits, block_size, gather_axis: 0, quantize_axis: 1 };
  return constant(fused("GatherBlockQuantized", inputs, attributes), "d", "s", "z");
};

const fusedGemm: Make = (r) => {
  const [m, k, n] = [r.int(1, 4), r.int(1, 6), r.int(1, 4)];
  const activation = r.pick(["Relu", "Tanh", "Sigmoid", "LeakyRelu"]);
  const transB = r.int(0, 1);
  const inputs = { a: r.float([m, k]), b: r.float(transB ? [n, k] : [k, n]), c: r.float([n]) };
  const slope: Record<string, AttributeValue> = activation === "LeakyRelu" ? { activation_alpha: { float: 0.25 } } : {};
  return fused("FusedGemm", inputs, { transB, alpha: { float: 0.5 }, activation, ...slope });
};

const convolution: Make = (r) => {
  const channels_last = r.int(0, 1);
  const inputs = {
    x: data(r, DType.uint8, channels_last ? [1, 5, 6, 3] : [1, 3, 5, 6]),
    xs: scale(r),
    xz: zero(r, DType.uint8),
    w: data(r, DType.uint8, [4, 3, 3, 2]),
    ws: scale(r),
    wz: zero(r, DType.uint8),
    ys: floatTensor([200], []),
    yz: zero(r, DType.uint8),
  };
  return near(
    constant(
      fused("QLinearConv", inputs, { channels_last }, { y: DType.uint8 }),
      "xs",
      "xz",
      "w",
      "ws",
      "wz",
      "ys",
      "yz",
    ),
  );
};

/** The quantised operators, and operators that duplicate other operators under another name. */
export const MICROSOFT_QUANTISED_CASES: Record<string, readonly Make[]> = {
  // Operators for other devices in onnxruntime: test/compiler/operators/diffusion.test.ts.
  ...Object.fromEntries(["BiasAdd", "BiasSplitGelu", "GroupNorm", "NhwcConv", "SkipGroupNorm"].map((op) => [op, []])),
  CDist: [
    (r) => fused("CDist", { a: r.float([3, 4]), b: r.float([2, 4]) }, { metric: r.pick(["euclidean", "sqeuclidean"]) }),
  ],
  DynamicQuantizeMatMul: [dynamic],
  ExpandDims: [(r) => constant(fused("ExpandDims", { x: r.float([2, 3]), axis: int32(r.int(-3, 2)) }), "axis")],
  FusedGemm: [fusedGemm],
  GatherBlockQuantized: [gatherBlocks],
  GatherND: [(r) => fused("GatherND", { x: r.float([2, 3, 4]), i: r.integer(DType.int64, [2, 2, 2], 0, 1) })],
  GridSample: [MICROSOFT_GRID_SAMPLE],
  MatMulIntegerToFloat: [toFloat],
  MatMulNBits: [nBits],
  NhwcMaxPool: [pooled("NhwcMaxPool")],
  Pad: [
    (r) =>
      constant(
        fused(
          "Pad",
          { x: r.float([2, 3]), p: int64Tensor([1, 0, 0, 2]), v: floatTensor([1.5], [1]) },
          { mode: "constant" },
        ),
        "p",
        "v",
      ),
  ],
  QAttention: [attention],
  QGemm: [gemm],
  QLinearAdd: [binary("QLinearAdd")],
  QLinearAveragePool: [pooled("QLinearAveragePool")],
  QLinearConcat: [concat],
  QLinearConv: [convolution],
  QLinearGlobalAveragePool: [pooled("QLinearGlobalAveragePool")],
  QLinearLeakyRelu: [oneInput("QLinearLeakyRelu", () => ({ alpha: { float: 0.25 } }))],
  QLinearMul: [binary("QLinearMul")],
  QLinearSigmoid: [oneInput("QLinearSigmoid")],
  QLinearSoftmax: [softmax],
  QLinearWhere: [where],
  Range: [
    (r) => {
      const limits = { a: int64Tensor([r.int(-3, 3)], []), b: int64Tensor([8], []), d: int64Tensor([2], []) };
      const made = constant(fused("Range", limits, {}, { i: DType.int64 }), "a", "b", "d");
      const gathered = { op: "Gather", inputs: ["x", "i"], outputs: ["y"] };
      return { ...made, operands: { x: r.float([8]) }, nodes: [...made.nodes, gathered], outputs: { y: F } };
    },
  ],
  TransposeMatMul: [
    (r) => fused("TransposeMatMul", { a: r.float([2, 4, 3]), b: r.float([2, 5, 4]) }, { transA: 1, transB: 1 }),
  ],
  Trilu: [(r) => fused("Trilu", { x: r.float([2, 3, 4]) }, { upper: r.int(0, 1) })],
};

function int32(value: number): TensorData {
  return { dtype: DType.int32, shape: [], bytes: new Uint8Array(Int32Array.of(value).buffer) };
}
