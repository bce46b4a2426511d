/** Experiments for operators that move over or resample spatial dimensions, and for scattered writes. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { SCATTER_PRODUCTS } from "./knownCases.ts";
import { F, type Make } from "./makers.ts";

const transposedConvolution: Make = (r) => {
  const spatial = r.int(1, 3);
  const groups = r.int(1, 2);
  const [perGroup, members] = [r.int(1, 3), r.int(1, 3)];
  const kernel = Array.from({ length: spatial }, () => r.int(1, 4));
  const size = kernel.map(() => r.int(1, 4));
  const strides = kernel.map(() => r.int(1, 3));
  const dilations = kernel.map(() => (r.int(0, 2) === 0 ? 2 : 1));
  const natural = kernel.map((k, d) => strides[d]! * (size[d]! - 1) + dilations[d]! * (k - 1) + 1);
  const pads = [...natural, ...natural].map((n, d) =>
    r.int(0, Math.min(1, Math.floor((n - 1) / 2), kernel[d % spatial]! - 1)),
  );
  const how = r.pick<Record<string, AttributeValue>>([
    { pads },
    {
      pads,
      output_padding: strides.map(
        (s, d) => Math.min(s, dilations[d]!) - (r.int(0, 1) && Math.min(s, dilations[d]!) > 0 ? 1 : 1),
      ),
    },
    ...(natural.every((n, d) => n >= size[d]! * strides[d]!) ? [{ auto_pad: "SAME_UPPER" }] : []),
    { auto_pad: "VALID" },
  ]);
  const attributes = { group: groups, kernel_shape: kernel, strides, dilations, ...how };
  const x = r.float([r.int(1, 2), groups * perGroup, ...size]);
  const weights = r.float([groups * perGroup, members, ...kernel]);
  const bias = r.float([groups * members]);
  const constants = r.int(0, 1) === 0 ? [weights] : [weights, bias];
  const atRunTime = r.int(0, 2) === 0;
  return single("ConvTranspose", atRunTime ? [x, ...constants] : [x], atRunTime ? [] : constants, attributes, F);
};

const wantedShape: Make = (r) => {
  const attributes = { strides: [3, 2], output_shape: [r.pick([9, 10, 8]), r.pick([5, 6, 7])], kernel_shape: [3, 3] };
  return single("ConvTranspose", [r.float([1, 1, 3, 3])], [r.float([1, 2, 3, 3])], attributes, F);
};

const repeatingPad: Make = (r) => {
  const rank = r.int(1, 4);
  const shape = r.shape(rank).map((dim) => dim + 2);
  const pads = [...shape, ...shape].map((dim) => r.int(0, dim - 1));
  return single("Pad", [r.float(shape)], [int64Tensor(pads)], { mode: r.pick(["reflect", "edge", "wrap"]) }, F, 19);
};

const attributePad: Make = (r) =>
  single("Pad", [r.float([2, 3])], [], { pads: [0, 1, 1, 1], mode: r.pick(["reflect", "edge", "constant"]) }, F, 9);

/** Indices without duplicates along `axis`. */
function distinct(r: RandomTensors, shape: readonly number[], axis: number, size: number): TensorData {
  const inner = shape.slice(axis + 1).reduce((p, d) => p * d, 1);
  const outer = shape.slice(0, axis).reduce((p, d) => p * d, 1);
  const values = new Array<number>(outer * shape[axis]! * inner);
  for (let o = 0; o < outer; o++)
    for (let i = 0; i < inner; i++) {
      const perm = r.permutation(size);
      for (let k = 0; k < shape[axis]!; k++)
        values[(o * shape[axis]! + k) * inner + i] = perm[k]! - (r.int(0, 1) ? size : 0);
    }
  return int64Tensor(values, shape);
}

const scatterElements =
  (op: string, opset: number): Make =>
  (r) => {
    const rank = r.int(1, 3);
    const shape = r.shape(rank);
    const axis = r.int(0, rank - 1);
    const own = shape.map((dim) => r.int(1, dim));
    const reduction = opset >= 18 ? r.pick(["none", "add", "max", "min"]) : "none";
    const indices =
      reduction === "none"
        ? distinct(r, own, axis, shape[axis]!)
        : r.integer(DType.int64, own, -shape[axis]!, shape[axis]! - 1);
    const attributes = { axis, ...(opset >= 18 ? { reduction } : {}) };
    const integers = r.int(0, 1) === 1;
    const make = (dims: readonly number[]): TensorData =>
      integers ? r.integer(DType.int32, dims, -50, 50) : r.float(dims);
    const [data, updates] = [make(shape), make(own)];
    return single(op, [data, indices, updates], [], attributes, integers ? DType.int32 : F, opset);
  };

const scatterNd: Make = (r) => {
  const shape = [r.int(3, 5), r.int(1, 4), r.int(1, 3)];
  const depth = r.int(1, 3);
  const outer = r.int(1, 3);
  const first = r.permutation(shape[0]!);
  const tuples = Array.from({ length: outer }, (_, n) =>
    Array.from({ length: depth }, (_, k) => (k === 0 ? first[n]! : r.int(-shape[k]!, shape[k]! - 1))),
  );
  const indices = int64Tensor(tuples.flat(), [outer, depth]);
  const [data, updates] = [r.float(shape), r.float([outer, ...shape.slice(depth)])];
  const reduction = r.pick(["none", "none", "add", "max", "min"]);
  const make = single("ScatterND", [data, indices, updates], [], { reduction }, F, 18);
  if (r.int(0, 1) === 0) return make;
  const { x1, ...operands } = make.operands;
  return { ...make, operands, initializers: { x1: x1! } };
};

const unpool: Make = (r) => {
  const indices = r.pick([
    [0, 3, 9, 14],
    [5, 7, 13, 15],
  ]);
  return single(
    "MaxUnpool",
    [r.float([1, 1, 2, 2]), int64Tensor(indices, [1, 1, 2, 2])],
    [],
    { kernel_shape: [2, 2], strides: [2, 2] },
    F,
    11,
  );
};

const resizing: Make = (r) => {
  const mode = r.pick(["nearest", "linear", "cubic"]);
  const spatial = mode === "cubic" ? 2 : r.int(1, 2);
  const size = Array.from({ length: spatial }, () => r.int(2, 6));
  const x = r.float([1, r.int(1, 3), ...size]);
  const scales = size.map(() => r.pick([0.5, 0.75, 1, 1.5, 2, 3]));
  const targets = size.map((dim) => r.int(Math.max(1, dim - 2), 2 * dim));
  const attributes = {
    mode,
    coordinate_transformation_mode: r.pick([
      "half_pixel",
      "half_pixel_symmetric",
      "pytorch_half_pixel",
      "align_corners",
      "asymmetric",
    ]),
    ...(mode === "nearest"
      ? { nearest_mode: r.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]) }
      : {}),
    ...(mode === "cubic" ? { exclude_outside: r.int(0, 1), cubic_coeff_a: { float: r.pick([-0.5, -0.75]) } } : {}),
  };
  const bySize = attributes.coordinate_transformation_mode === "align_corners" || r.int(0, 1) === 1;
  const inputs = bySize ? ["x0", "", "", "c0"] : ["x0", "", "c0"];
  const c0 = bySize ? int64Tensor([1, x.shape[1]!, ...targets]) : floatTensor([1, 1, ...scales]);
  return {
    opset: 19,
    operands: { x0: x },
    initializers: { c0 },
    nodes: [{ op: "Resize", inputs, outputs: ["y"], attributes }],
    outputs: { y: F },
    atol: 1e-5,
  };
};

const cropping: Make = (r) => ({
  opset: 13,
  operands: { x0: r.float([1, 1, 4, 4]) },
  initializers: {
    roi: floatTensor([0, 0, r.pick([0.25, 0.4]), r.pick([0, 0.6]), 1, 1, r.pick([1, 1.2]), 0.8]),
    none: floatTensor([]),
    sizes: int64Tensor([1, 1, r.pick([2, 3, 5]), r.pick([2, 3, 5])]),
  },
  nodes: [
    {
      op: "Resize",
      inputs: ["x0", "roi", "none", "sizes"],
      outputs: ["y"],
      attributes: {
        mode: r.pick(["linear", "nearest"]),
        coordinate_transformation_mode: "tf_crop_and_resize",
        extrapolation_value: { float: 10 },
      },
    },
  ],
  outputs: { y: F },
  atol: 1e-5,
});

const upsampling =
  (op: string, opset: number): Make =>
  (r) => {
    const scales = floatTensor([1, 1, r.pick([1, 2, 1.5]), r.pick([2, 3, 2.5])]);
    return single(op, [r.float([1, 2, 3, 2])], [scales], { mode: r.pick(["nearest", "linear"]) }, F, opset);
  };

export const SPATIAL_CASES: Record<string, readonly Make[]> = {
  ConvTranspose: [transposedConvolution, transposedConvolution, transposedConvolution, wantedShape],
  MaxUnpool: [unpool],
  Resize: [resizing, resizing, resizing, cropping, upsampling("Resize", 10)],
  Upsample: [upsampling("Upsample", 9)],
  Scatter: [scatterElements("Scatter", 10)],
  ScatterElements: [
    scatterElements("ScatterElements", 13),
    scatterElements("ScatterElements", 18),
    SCATTER_PRODUCTS[1]!,
  ],
  ScatterND: [scatterNd, scatterNd, SCATTER_PRODUCTS[0]!],
};
export const PAD_CASES: readonly Make[] = [repeatingPad, attributePad];
