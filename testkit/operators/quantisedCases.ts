/** Random experiments of the quantised operators. */
import { byteEngine } from "../../src/executor/engine/byteEngine.ts";
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { narrowQuantised } from "./latestCases.ts";
import { F, type Make } from "./makers.ts";

const LIMITS = new Map<DType, readonly [number, number]>([
  [DType.uint8, [0, 255]],
  [DType.int8, [-128, 127]],
  [DType.uint16, [0, 65535]],
  [DType.int16, [-32768, 32767]],
]);

const whole = (r: RandomTensors, dtype: DType, shape: readonly number[]): TensorData =>
  r.integer(dtype, shape, ...LIMITS.get(dtype)!);

/**
 * The minimum and maximum signed weight for which onnxruntime's sums are exact. Older x86 processors add pairs of
 * products in 16 bits, and the sums saturate. Sums over weights with 7 bits do not saturate.
 */
const SIGNED_WEIGHTS = ((): readonly [number, number] => {
  const made = byteEngine({});
  made.dispose();
  return made.engine.minRight === 0 ? [-64, 63] : LIMITS.get(DType.int8)!;
})();

const weights = (r: RandomTensors, dtype: DType, shape: readonly number[]): TensorData =>
  dtype === DType.int8 ? r.integer(dtype, shape, ...SIGNED_WEIGHTS) : whole(r, dtype, shape);

/** Returns multiples of 1/64 from a sixteenth to one. Ratios then often fall halfway between integers. */
const scale = (r: RandomTensors, shape: readonly number[]): TensorData => r.float(shape, 1 / 16, 1);

/** One node over named inputs; those in `constants` are initializers. An absent input is undefined. */
function node(
  op: string,
  inputs: Readonly<Record<string, TensorData | undefined>>,
  constants: readonly string[],
  output: DType,
  opset: number,
  attributes: Readonly<Record<string, AttributeValue>> = {},
): Experiment {
  const given = Object.entries(inputs).filter((entry): entry is [string, TensorData] => entry[1] !== undefined);
  return {
    opset,
    operands: Object.fromEntries(given.filter(([name]) => !constants.includes(name))),
    initializers: Object.fromEntries(given.filter(([name]) => constants.includes(name))),
    nodes: [{ op, inputs: Object.keys(inputs).map((name) => (inputs[name] ? name : "")), outputs: ["y"], attributes }],
    outputs: { y: output },
    rtol: 0,
    atol: 0,
  };
}

/** Parameters of a tensor: for all of it, or along an axis. */
const parameters = (r: RandomTensors, dtype: DType, shape: readonly number[]) => {
  const axis = r.int(0, shape.length - 1);
  const own = r.int(0, 1) === 0 ? [] : [shape[axis]!];
  return { axis, scale: scale(r, own), zero: r.int(0, 2) === 0 ? undefined : whole(r, dtype, own) };
};

const quantize =
  (opset: number, types: readonly DType[]): Make =>
  (r) => {
    const [dtype, shape] = [r.pick(types), r.shape(3)];
    const { axis, scale: s, zero } = parameters(r, dtype, shape);
    const x = r.float(shape, -40, 40);
    const constants = r.pick([[], ["s", "z"]]);
    return node("QuantizeLinear", { x, s, z: zero }, constants, zero ? dtype : DType.uint8, opset, { axis });
  };

const dequantize =
  (opset: number, types: readonly DType[]): Make =>
  (r) => {
    const [dtype, shape] = [r.pick(types), r.shape(3)];
    const { axis, scale: s, zero } = parameters(r, dtype, shape);
    const constants = r.pick([[], ["s", "z"]]);
    return node("DequantizeLinear", { x: whole(r, dtype, shape), s, z: zero }, constants, F, opset, { axis });
  };

const blocked =
  (op: string): Make =>
  (r) => {
    const dtype = r.pick(BYTES);
    const [blocks, block] = [r.int(1, 3), r.int(1, 4)];
    const shape = [2, blocks * block, 3];
    const quantise = op === "QuantizeLinear";
    const x = quantise ? r.float(shape, -20, 20) : whole(r, dtype, shape);
    const z = whole(r, dtype, [2, blocks, 3]);
    const attributes = { axis: 1, block_size: block };
    return node(op, { x, s: scale(r, [2, blocks, 3]), z }, [], quantise ? dtype : F, 21, attributes);
  };

/** Returns four-bit weights in blocks, in the tools' storage format. */
const fourBits: Make = (r) => {
  const signed = r.int(0, 1) === 1;
  const [blocks, block] = [r.int(1, 3), r.int(1, 4)];
  const [dtype, low, high] = signed ? ([DType.int8, -8, 7] as const) : ([DType.uint8, 0, 15] as const);
  const narrow = (shape: readonly number[]): TensorData => ({ ...r.integer(dtype, shape, low, high), fourBits: true });
  return {
    opset: 21,
    operands: { x: r.float([2, blocks * block]) },
    initializers: { w: narrow([blocks * block, 3]), s: scale(r, [blocks, 3]), z: narrow([blocks, 3]) },
    nodes: [
      { op: "DequantizeLinear", inputs: ["w", "s", "z"], outputs: ["d"], attributes: { axis: 0, block_size: block } },
      { op: "MatMul", inputs: ["x", "d"], outputs: ["y"] },
    ],
    outputs: { y: F },
    atol: 1e-5,
  };
};

const BYTES: readonly DType[] = [DType.uint8, DType.int8];
const ALL: readonly DType[] = [...BYTES, DType.uint16, DType.int16];

const dynamic: Make = (r) => {
  const made = node(
    "DynamicQuantizeLinear",
    { x: r.float(r.shape(r.int(1, 3)), r.int(-9, 2), r.int(3, 9)) },
    [],
    2,
    17,
  );
  const [only] = made.nodes;
  return {
    ...made,
    nodes: [{ ...only!, outputs: ["y", "s", "z"] }],
    outputs: { y: DType.uint8, s: F, z: DType.uint8 },
  };
};

const matMulInteger: Make = (r) => {
  const [m, k, n] = [r.int(1, 5), r.int(1, 9), r.int(1, 5)];
  const batch = r.pick([[], [2], [2, 3]]);
  const [left, right] = [r.pick(BYTES), r.pick(BYTES)];
  const zero = r.int(0, 2);
  const inputs = {
    a: whole(r, left, [...batch, m, k]),
    b: weights(r, right, [k, n]),
    za: zero === 0 ? undefined : whole(r, left, []),
    zb: zero < 2 ? undefined : whole(r, right, r.pick([[], [n]])),
  };
  return node("MatMulInteger", inputs, r.pick([[], ["b"], ["b", "zb"]]), DType.int32, 17);
};

const spatial = (r: RandomTensors) => {
  const groups = r.int(1, 2);
  const [inputs, outputs] = [groups * r.int(1, 2), groups * r.int(1, 3)];
  const kernel = [r.int(1, 3), r.int(1, 3)];
  return {
    xShape: [r.int(1, 2), inputs, r.int(4, 6), r.int(4, 6)],
    wShape: [outputs, inputs / groups, ...kernel],
    attributes: {
      group: groups,
      strides: [r.int(1, 2), r.int(1, 2)],
      pads: kernel.concat(kernel).map((size) => r.int(0, size - 1)),
      dilations: [1, r.int(1, 2)],
    },
  };
};

const convInteger: Make = (r) => {
  const { xShape, wShape, attributes } = spatial(r);
  // onnxruntime has no ConvInteger of int8 data.
  const right = r.pick(BYTES);
  const inputs = {
    x: whole(r, DType.uint8, xShape),
    w: weights(r, right, wShape),
    zx: r.int(0, 1) ? whole(r, DType.uint8, []) : undefined,
    zw: undefined,
  };
  return node("ConvInteger", inputs, r.pick([[], ["w"], ["w", "zx"]]), DType.int32, 17, attributes);
};

const qLinearMatMul: Make = (r) => {
  const [m, k, n] = [r.int(1, 5), r.int(1, 9), r.int(1, 5)];
  const type = r.pick(BYTES);
  const weight = type === DType.int8 ? DType.int8 : r.pick(BYTES);
  const columns = r.pick([[], [n]]);
  const inputs = {
    a: whole(r, type, [...r.pick([[], [2]]), m, k]),
    as: scale(r, []),
    az: whole(r, type, []),
    b: weights(r, weight, [k, n]),
    bs: scale(r, columns),
    bz: whole(r, weight, columns),
    ys: r.float([], 20, 60),
    yz: whole(r, type, []),
  };
  return node("QLinearMatMul", inputs, r.pick([[], ["b", "bs", "bz", "as", "ys", "yz"]]), type, 17);
};

const qLinearConv: Make = (r) => {
  const { xShape, wShape, attributes } = spatial(r);
  const type = r.pick(BYTES);
  const weight = type === DType.int8 ? DType.int8 : r.pick(BYTES);
  const each = r.pick([[], [wShape[0]!]]);
  const inputs = {
    x: whole(r, type, xShape),
    xs: scale(r, []),
    xz: whole(r, type, []),
    w: weights(r, weight, wShape),
    ws: scale(r, each),
    // onnxruntime executes one zero point of the weights.
    wz: r.integer(weight, each, 3, 3),
    ys: r.float([], 20, 60),
    yz: whole(r, type, []),
    b: r.int(0, 1) ? r.integer(DType.int32, [wShape[0]!], -999, 999) : undefined,
  };
  const constants = r.pick([
    ["w", "wz"],
    ["w", "ws", "wz", "b", "xs", "ys", "yz"],
  ]);
  return node("QLinearConv", inputs, constants, type, 17, attributes);
};

/** The quantised operators of the table; every result is the same to the bit. */
export const QUANTISED_CASES: Record<string, readonly Make[]> = {
  ConvInteger: [convInteger],
  DequantizeLinear: [
    narrowQuantised,
    fourBits,
    dequantize(13, BYTES),
    dequantize(21, ALL),
    blocked("DequantizeLinear"),
  ],
  DynamicQuantizeLinear: [dynamic],
  MatMulInteger: [matMulInteger],
  QLinearConv: [qLinearConv],
  QLinearMatMul: [qLinearMatMul],
  QuantizeLinear: [narrowQuantised, quantize(13, BYTES), quantize(21, ALL), blocked("QuantizeLinear")],
};
