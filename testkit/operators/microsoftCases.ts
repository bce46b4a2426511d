/** Random experiments of the operators of com.microsoft. */
import { DType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue } from "../onnx/onnxBuilder.ts";
import { convolution, F, type Make } from "./makers.ts";

/** One node of com.microsoft over named inputs; those that are undefined are absent. */
export function fused(
  op: string,
  inputs: Readonly<Record<string, TensorData | undefined>>,
  attributes: Readonly<Record<string, AttributeValue>> = {},
  outputs: Readonly<Record<string, DType>> = { y: F },
): Experiment {
  const given = Object.entries(inputs).filter((entry): entry is [string, TensorData] => entry[1] !== undefined);
  const names = Object.keys(inputs).map((name) => (inputs[name] ? name : ""));
  return {
    operands: Object.fromEntries(given),
    nodes: [{ op, domain: "com.microsoft", inputs: names, outputs: Object.keys(outputs), attributes }],
    outputs,
    atol: 1e-5,
  };
}

const ACTIVATIONS: readonly (readonly [string, readonly number[]])[] = [
  ["Relu", []],
  ["Tanh", []],
  ["Sigmoid", []],
  ["LeakyRelu", [0.25]],
  ["Clip", [-1, 2]],
];

const fusedConv: Make = (r) => {
  const made = convolution(r);
  const [name, parameters] = r.pick(ACTIVATIONS);
  const [node] = made.nodes;
  const activation = { activation: name, ...(parameters.length ? { activation_params: { floats: parameters } } : {}) };
  const attributes = { ...node!.attributes, ...activation };
  return { ...made, nodes: [{ ...node!, op: "FusedConv", domain: "com.microsoft", attributes }] };
};

const quantised =
  (op: "QuantizeLinear" | "DequantizeLinear"): Make =>
  (r) => {
    const dtype = r.pick([DType.uint8, DType.int8, DType.uint16, DType.int16]);
    const quantise = op === "QuantizeLinear";
    const x = quantise ? r.float([3, 4], -20, 20) : r.integer(dtype, [3, 4], 0, 100);
    const inputs = { x, s: r.float([], 1 / 16, 1), z: r.integer(dtype, [], 0, 100) };
    return fused(op, inputs, {}, { y: quantise ? dtype : F });
  };

const fusedMatMul: Make = (r) => {
  const [transA, transB] = [r.int(0, 1), r.int(0, 1)];
  const [m, k, n] = [r.int(1, 4), r.int(1, 6), r.int(1, 4)];
  const a = r.float([2, ...(transA ? [k, m] : [m, k])]);
  const b = r.float([2, ...(transB ? [n, k] : [k, n])]);
  return fused("FusedMatMul", { a, b }, { transA, transB, alpha: { float: r.pick([1, 0.3]) } });
};

const skip: Make = (r) => {
  const shape = [2, 3, 8];
  const maybe = (): TensorData | undefined => (r.int(0, 1) ? r.float([8]) : undefined);
  const inputs = { x: r.float(shape), s: r.float(shape), g: r.float([8]), b: maybe(), bias: maybe() };
  return fused("SkipLayerNormalization", inputs, { epsilon: { float: 1e-6 } });
};

/** Experiments for each com.microsoft operator, covering its attributes. */
export const MICROSOFT_CASES: Record<string, readonly Make[]> = {
  BiasGelu: [(r) => fused("BiasGelu", { x: r.float([2, 3, 5]), b: r.float([5]) })],
  DequantizeLinear: [quantised("DequantizeLinear")],
  FastGelu: [(r) => fused("FastGelu", { x: r.float([2, 3, 5]), b: r.int(0, 1) ? r.float([5]) : undefined })],
  FusedConv: [fusedConv],
  FusedMatMul: [fusedMatMul],
  Gelu: [(r) => fused("Gelu", { x: r.float([7]) })],
  QuantizeLinear: [quantised("QuantizeLinear")],
  QuickGelu: [(r) => fused("QuickGelu", { x: r.float([7]) }, r.int(0, 1) ? {} : { alpha: { float: 0.5 } })],
  SkipLayerNormalization: [skip],
};
