/** Random experiments of one operator each. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { single, type Experiment } from "../onnx/agreement.ts";
import type { RandomTensors } from "../random/tensors.ts";

/** Makes a random experiment. */
export type Make = (r: RandomTensors) => Experiment;
export const F = DType.float32;

export const unary =
  (op: string, low = -4, high = 4, opset?: number, output: DType = F): Make =>
  (r) =>
    single(op, [r.float(r.shape(r.int(0, 4)), low, high)], [], {}, output, opset);

export const binary =
  (op: string, output: DType = F, constant = false): Make =>
  (r) => {
    const shape = r.shape(r.int(1, 4));
    const [a, b] = [r.float(shape, 1, 4), r.float(r.broadcastable(shape), 1, 4)];
    if (constant) return single(op, [a], [b], {}, output);
    return r.int(0, 1) === 0 ? single(op, [a, b], [], {}, output) : single(op, [b, a], [], {}, output);
  };

export const logical =
  (op: string): Make =>
  (r) => {
    const shape = r.shape(r.int(1, 4));
    return single(op, [r.bool(shape), r.bool(r.broadcastable(shape))], [], {}, DType.bool);
  };

export const bits =
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

export const reduction =
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

export const argument =
  (op: string): Make =>
  (r) => {
    const rank = r.int(1, 4);
    const x = r.integer(DType.int32, r.shape(rank), -2, 2);
    const attributes = { axis: r.int(-rank, rank - 1), keepdims: r.int(0, 1), select_last_index: r.int(0, 1) };
    return single(op, [x], [], attributes, DType.int64);
  };

export const convolution: Make = (r) => {
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

export const pooling =
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

export const matMul: Make = (r) => {
  const batch = r.shape(r.int(0, 2), 3);
  const [m, k, n] = [r.int(1, 5), r.int(1, 6), r.int(1, 5)];
  const a = r.float(r.int(0, 4) === 0 ? [k] : [...batch, m, k]);
  const b = r.float(r.int(0, 4) === 0 ? [k] : [...r.broadcastable(batch), k, n]);
  return r.int(0, 1) === 0 ? single("MatMul", [a, b], [], {}, F) : single("MatMul", [a], [b], {}, F);
};

export const gemm: Make = (r) => {
  const [m, k, n] = [r.int(1, 5), r.int(1, 6), r.int(1, 5)];
  const [transA, transB] = [r.int(0, 1), r.int(0, 1)];
  const a = r.float(transA ? [k, m] : [m, k]);
  const b = r.float(transB ? [n, k] : [k, n]);
  const c = r.float(r.broadcastable([m, n]));
  const scale: Record<string, { float: number }> =
    r.int(0, 1) === 0 ? { alpha: { float: 0.5 }, beta: { float: 3 } } : {};
  return single("Gemm", r.int(0, 1) ? [a] : [a, b, c], r.int(0, 1) ? [b, c] : [], { transA, transB, ...scale }, F);
};
export const gemmChecked: Make = (r) => {
  const made = gemm(r);
  const total = Object.keys(made.operands).length + Object.keys(made.initializers ?? {}).length;
  return total === 3 ? made : gemmChecked(r);
};

export const alongAxis =
  (op: string, opset: number): Make =>
  (r) => {
    const rank = r.int(1, 4);
    return single(op, [r.float(r.shape(rank))], [], { axis: r.int(opset < 11 ? 0 : -rank, rank - 1) }, F, opset);
  };

export const slice: Make = (r) => {
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

export const pad: Make = (r) => {
  const rank = r.int(1, 4);
  const pads = Array.from({ length: 2 * rank }, () => r.int(-1, 2));
  const shape = r.shape(rank).map((dim) => dim + 2);
  return single("Pad", [r.float(shape)], [int64Tensor(pads), floatTensor([1.5], [])], {}, F);
};

export const gather =
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

export const concat: Make = (r) => {
  const rank = r.int(1, 4);
  const axis = r.int(0, rank - 1);
  const shape = r.shape(rank);
  const part = () => r.float(shape.map((dim, d) => (d === axis ? r.int(1, 4) : dim)));
  const parts = Array.from({ length: r.pick([1, 2, 3, 15, 160]) }, part);
  return single(
    "Concat",
    parts.slice(0, -1).length === 0 ? parts : parts.slice(0, -1),
    parts.slice(0, -1).length === 0 ? [] : parts.slice(-1),
    { axis: axis - rank },
    F,
  );
};

export const split: Make = (r) => {
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

export const batchNormalization: Make = (r) => {
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

export const layerNormalization: Make = (r) => {
  const rank = r.int(2, 4);
  const shape = r.shape(rank).map((dim) => dim + 2);
  const axis = r.int(1, rank - 1);
  const own = shape.slice(axis);
  return { ...single("LayerNormalization", [r.float(shape)], [r.float(own), r.float(own)], { axis }, F), atol: 1e-5 };
};

export const clip =
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

export const reshape: Make = (r) => {
  const [a, b, c] = [r.int(1, 4), r.int(1, 4), r.int(1, 4)];
  const targets = [[-1], [a * b, c], [a, -1, 1], [0, -1], [c, b, a], [1, a, 1, b * c], [c * b, a]];
  return single("Reshape", [r.float([a, b, c])], [int64Tensor(r.pick(targets))], {}, F);
};
