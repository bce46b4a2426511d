/** Makers of convolutions, poolings, resizes, products and norms, with all their attributes. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { F, type Make } from "../operators/makers.ts";
import type { RandomTensors } from "../random/tensors.ts";
import { mixed } from "./elementwise.ts";

type Attributes = Record<string, AttributeValue>;

/** Draws kernel and input sizes for some dimensions, and attributes that place the windows. */
function windows(r: RandomTensors, dilated: boolean): { kernel: number[]; size: number[]; attributes: Attributes } {
  const kernel = Array.from({ length: r.int(1, 3) }, () => r.int(1, 3));
  const dilations = kernel.map(() => (dilated ? r.int(1, 2) : 1));
  const size = kernel.map((k, d) => dilations[d]! * (k - 1) + 1 + r.int(0, 4));
  const attributes: Attributes = { kernel_shape: kernel, strides: kernel.map(() => r.int(1, 3)) };
  if (dilated) attributes["dilations"] = dilations;
  // When onnxruntime computes the padding itself, it refuses dilation or forgets the dilation.
  const plain = dilations.every((dilation) => dilation === 1);
  const how = r.pick(["none", "pads", "pads", "VALID", ...(plain ? ["SAME_UPPER", "SAME_LOWER"] : [])]);
  if (how === "pads") attributes["pads"] = [...kernel, ...kernel].map((k) => r.int(0, k - 1));
  else if (how !== "none") attributes["auto_pad"] = how;
  return { kernel, size, attributes };
}

const convolution: Make = (r) => {
  const { kernel, size, attributes } = windows(r, true);
  const [groups, inputs, outputs] = [r.int(1, 2), r.int(1, 2), r.int(1, 3)];
  if (r.int(0, 2) === 0) delete attributes["kernel_shape"];
  const operands = [
    r.float([r.int(1, 2), groups * inputs, ...size]),
    r.float([groups * outputs, inputs, ...kernel]),
    r.int(0, 1) ? r.float([groups * outputs]) : undefined,
  ];
  if (operands[2] === undefined) operands.pop();
  return { ...mixed(r, "Conv", operands, { ...attributes, group: groups }, { y: F }, r.pick([1, 11])), atol: 1e-4 };
};

const pooling: Make = (r) => {
  const op = r.pick(["MaxPool", "AveragePool", "LpPool"]);
  const opset = r.pick([11, 12, 18, 19, 22]);
  const { size, attributes } = windows(r, op === "MaxPool" || opset >= 19);
  if (op !== "LpPool" || opset >= 18) attributes["ceil_mode"] = r.int(0, 1);
  if (op === "AveragePool") attributes["count_include_pad"] = r.int(0, 1);
  if (op === "LpPool") attributes["p"] = r.int(1, 3);
  const types = op === "MaxPool" && opset >= 12 ? [F, DType.uint8, DType.int8] : [F];
  const dtype = r.pick(types);
  const shape = [r.int(1, 2), r.int(1, 2), ...size];
  const x = dtype === F ? r.float(shape) : r.integer(dtype, shape, 0, 100);
  return { ...single(op, [x], [], attributes, dtype, opset), atol: 1e-4 };
};

const transposed: Make = (r) => {
  const rank = r.int(1, 3);
  const [groups, inputs, members] = [r.int(1, 2), r.int(1, 2), r.int(1, 2)];
  const kernel = Array.from({ length: rank }, () => r.int(1, 3));
  const [strides, dilations] = [kernel.map(() => r.int(1, 3)), kernel.map(() => r.int(1, 2))];
  const size = kernel.map(() => r.int(1, 3));
  const extent = kernel.map((k, d) => dilations[d]! * (k - 1) + 1);
  const natural = size.map((s, d) => strides[d]! * (s - 1) + extent[d]!);
  const attributes: Attributes = { group: groups, kernel_shape: kernel, strides, dilations };
  const how = r.pick(["none", "pads", "padding", "shape"]);
  if (how === "padding") attributes["output_padding"] = strides.map((s, d) => r.int(0, Math.max(s, dilations[d]!) - 1));
  if (how === "pads" || how === "padding")
    attributes["pads"] = [...natural, ...natural].map((n) => r.int(0, Math.floor((n - 1) / 2)));
  if (how === "shape") attributes["output_shape"] = natural.map((n) => Math.max(1, n - r.int(0, 2)));
  const operands = [r.float([1, groups * inputs, ...size]), r.float([groups * inputs, members, ...kernel])];
  if (r.int(0, 1)) operands.push(r.float([groups * members]));
  return { ...mixed(r, "ConvTranspose", operands, attributes, { y: F }, 11), atol: 1e-4 };
};

const resize: Make = (r) => {
  const mode = r.pick(["nearest", "linear", "cubic"]);
  const spatial = mode === "cubic" ? 2 : r.int(1, 3);
  const size = Array.from({ length: spatial }, () => r.int(1, 6));
  const opset = r.pick([11, 13, 18, 19]);
  const named = opset >= 18 && r.int(0, 1) === 1;
  const lead = named ? [] : [1, 1];
  const coordinates = r.pick([
    "half_pixel",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    ...(opset >= 19 ? ["half_pixel_symmetric"] : []),
  ]);
  const bySize = coordinates === "align_corners" || r.int(0, 1) === 1;
  const attributes: Attributes = { mode, coordinate_transformation_mode: coordinates };
  if (mode === "nearest")
    attributes["nearest_mode"] = r.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]);
  if (mode === "cubic")
    Object.assign(attributes, { exclude_outside: r.int(0, 1), cubic_coeff_a: { float: r.pick([-0.5, -0.75]) } });
  if (named) attributes["axes"] = size.map((_, d) => d + 2);
  if (bySize && opset >= 18 && r.int(0, 1))
    attributes["keep_aspect_ratio_policy"] = r.pick(["stretch", "not_larger", "not_smaller"]);
  if (opset >= 18 && mode !== "nearest" && r.int(0, 2) === 0) attributes["antialias"] = 1;
  const factor = bySize
    ? int64Tensor([...lead, ...size.map((dim) => r.int(1, 2 * dim))])
    : floatTensor([...lead, ...size.map((dim) => r.pick([1, 1.5, 2, 3, ...(dim > 1 ? [0.5, 0.75] : [])]))]);
  const initializers: Record<string, TensorData> = opset < 13 ? { factor, none: floatTensor([]) } : { factor };
  const absent = opset < 13 ? "none" : "";
  return {
    opset,
    operands: { x: r.float([1, r.int(1, 2), ...size].map((dim, d) => (lead.length > 0 && d === 1 ? 1 : dim))) },
    initializers,
    nodes: [
      {
        op: "Resize",
        inputs: bySize ? ["x", absent, absent, "factor"] : ["x", absent, "factor"],
        outputs: ["y"],
        attributes,
      },
    ],
    outputs: { y: F },
    atol: 1e-4,
  };
};

const norm: Make = (r) => {
  const op = r.pick([
    "LayerNormalization",
    "InstanceNormalization",
    "BatchNormalization",
    "LpNormalization",
    "LRN",
    "MeanVarianceNormalization",
  ]);
  const close = (made: Experiment): Experiment => ({ ...made, atol: 1e-4 });
  const epsilon = { epsilon: { float: 0.01 } };
  if (op === "LayerNormalization") {
    const rank = r.int(1, 4);
    const shape = r.shape(rank, 4);
    const axis = r.int(0, rank - 1);
    const own = shape.slice(axis);
    const operands = [r.float(shape), r.float(own), ...(r.int(0, 1) ? [r.float(own)] : [])];
    return close(mixed(r, op, operands, { axis: r.int(0, 1) ? axis : axis - rank, ...epsilon }, { y: F }, 17));
  }
  const shape = [r.int(1, 2), r.int(1, 4), ...r.shape(r.int(op === "BatchNormalization" ? 0 : 1, 3), 4)];
  const channel = (low = -4): TensorData => r.float([shape[1]!], low, 4);
  if (op === "InstanceNormalization")
    return close(mixed(r, op, [r.float(shape), channel(), channel()], epsilon, { y: F }, 6));
  if (op === "BatchNormalization")
    return close(
      mixed(
        r,
        op,
        [r.float(shape), channel(), channel(), channel(), channel(1)],
        epsilon,
        { y: F },
        r.pick([9, 14, 15]),
      ),
    );
  if (op === "LpNormalization")
    return close(
      single(op, [r.float(shape)], [], { axis: r.int(-shape.length, shape.length - 1), p: r.int(1, 2) }, F, 1),
    );
  if (op === "LRN")
    return close(
      single(
        op,
        [r.float([1, r.int(1, 6), 2, 2])],
        [],
        { size: r.pick([1, 3, 5]), beta: { float: 0.5 }, bias: { float: 1.5 } },
        F,
        13,
      ),
    );
  const axes = r.permutation(shape.length).slice(0, r.int(1, shape.length));
  // For a single element, onnxruntime divides by 0 and not by the 1e-9 of ONNX's body.
  if (axes.every((axis) => shape[axis] === 1)) return norm(r);
  return close(single(op, [r.float(shape)], [], { axes }, F, 13));
};

const matrices: Make = (r) => {
  const [m, k, n] = [r.int(1, 4), r.int(1, 5), r.int(1, 4)];
  if (r.int(0, 1)) {
    const batch = r.shape(r.int(0, 3), 3);
    const other = r.broadcastable(batch);
    const [left, right] = r.int(0, 1) ? [batch, other] : [other, batch];
    const dtype = r.pick([F, F, DType.int32, DType.int64]);
    const make = (shape: readonly number[]): TensorData =>
      dtype === F ? r.float(shape) : r.integer(dtype, shape, -9, 9);
    const a = make(r.int(0, 5) === 0 ? [k] : [...left, m, k]);
    const b = make(r.int(0, 5) === 0 ? [k] : [...right, k, n]);
    return { ...mixed(r, "MatMul", [a, b], {}, { y: dtype }, r.pick([9, 13])), atol: 1e-4 };
  }
  const [transA, transB] = [r.int(0, 1), r.int(0, 1)];
  const operands = [r.float(transA ? [k, m] : [m, k]), r.float(transB ? [n, k] : [k, n])];
  if (r.int(0, 1)) operands.push(r.float(r.pick([[m, n], [n], [1, n], [m, 1], [1], []])));
  const scale: Attributes = r.int(0, 1) ? { alpha: { float: 0.5 }, beta: { float: -2 } } : {};
  return { ...mixed(r, "Gemm", operands, { transA, transB, ...scale }, { y: F }, r.pick([11, 13])), atol: 1e-4 };
};

/** Einsum of random labels: repeated ones, an ellipsis, sums of single ones. */
const einsum: Make = (r) => {
  const sizes: Record<string, number> = { a: r.int(1, 3), b: r.int(1, 3), c: r.int(1, 3), d: r.int(1, 3) };
  const hidden = r.int(0, 2) === 0 ? r.shape(r.int(1, 2), 3) : undefined;
  const terms = Array.from({ length: r.int(1, 3) }, () =>
    Array.from({ length: r.int(1, 3) }, () => r.pick(["a", "b", "c", "d"])),
  );
  const used = [...new Set(terms.flat())];
  const kept = used.filter(() => r.int(0, 1));
  const order = r.permutation(kept.length).map((k) => kept[k]!);
  const dots = hidden ? "..." : "";
  const equation = `${terms.map((term) => dots + term.join("")).join(",")}->${dots}${order.join("")}`;
  const operands = terms.map((term) => r.float([...(hidden ?? []), ...term.map((label) => sizes[label]!)], -2, 2));
  return { ...mixed(r, "Einsum", operands, { equation }, { y: F }, 12), atol: 1e-4 };
};

/** By name. */
export const SPATIAL_FUZZ: Record<string, Make> = {
  convolution,
  pooling,
  transposed,
  resize,
  norm,
  matrices,
  einsum,
};
