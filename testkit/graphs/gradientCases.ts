import { readFileSync } from "node:fs";
import { DType, isDType } from "../../src/numerics/dtype.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { numberTensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel, type AttributeValue, type NodeSpec } from "../onnx/onnxBuilder.ts";

type Tensor = { shape: readonly number[]; values: readonly number[] };

/**
 * A case from `test/golden/gradients/make.py`: an operator, and gradients for the weighted sum of the operator's
 * outputs.
 */
export type GradientCase = {
  op: string;
  domain: string;
  opset: number;
  attributes: Readonly<Record<string, AttributeValue>>;
  /** The names of the operator's inputs: `xN` are the inputs, others constants, "" is absent. */
  order: readonly string[];
  inputs: readonly Tensor[];
  constants: readonly (Tensor & { name: string; type: number })[];
  /** One for each output. */
  weights: readonly Tensor[];
  y: readonly (readonly number[])[];
  /** By PyTorch, and by central differences, both in float64. */
  autograd: readonly (readonly number[])[];
  numeric: readonly (readonly number[])[];
};

export const gradientCases = (): GradientCase[] =>
  JSON.parse(readFileSync("test/golden/gradients/gradients.json", "utf8")) as GradientCase[];

const typed = (code: number): DType => {
  if (!isDType(code)) throw new RangeError(`no element type ${code}`);
  return code;
};

/** The model of a case: outputs `yN` of the operator, and `dN`, the gradient by input N, by a Gradient node. */
export function gradientModel(of: GradientCase, type: DType = DType.float32): Uint8Array {
  const names = of.inputs.map((_, k) => `x${k}`);
  const outputs = of.weights.map((_, k) => `y${k}`);
  const constant = ({ values, shape, type: code }: Tensor & { type: number }): TensorData =>
    numberTensor(code === DType.float32 ? type : typed(code), values, shape);
  const total = (y: string, k: number): NodeSpec[] => [
    { op: "Mul", inputs: [y, `w${k}`], outputs: [`p${k}`] },
    { op: "ReduceSum", inputs: [`p${k}`], outputs: [`s${k}`], attributes: { keepdims: 0 } },
  ];
  return buildModel({
    opset: of.opset,
    irVersion: 10,
    ...(of.domain !== "" && { imports: { [of.domain]: 1 } }),
    inputs: names.map((name, k) => ({ name, dtype: type, shape: of.inputs[k]!.shape })),
    outputs: [
      ...outputs.map((name) => ({ name, dtype: type })),
      ...names.map((_, k) => ({ name: `d${k}`, dtype: type })),
    ],
    nodes: [
      { op: of.op, domain: of.domain, inputs: of.order, outputs, attributes: of.attributes },
      ...outputs.flatMap(total),
      { op: "Sum", inputs: outputs.map((_, k) => `s${k}`), outputs: ["loss"] },
      {
        op: "Gradient",
        domain: "ai.onnx.preview.training",
        inputs: names,
        outputs: names.map((_, k) => `d${k}`),
        attributes: { xs: { strings: names }, y: "loss" },
      },
    ],
    initializers: {
      ...Object.fromEntries(of.constants.map((each) => [each.name, constant(each)])),
      ...Object.fromEntries(of.weights.map(({ values, shape }, k) => [`w${k}`, numberTensor(type, values, shape)])),
    },
  });
}
