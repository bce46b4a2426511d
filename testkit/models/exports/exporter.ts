import { DType } from "../../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { Prng } from "../../random/prng.ts";
import { buildModel, type AttributeValue, type NodeSpec } from "../../onnx/onnxBuilder.ts";
import { RandomTensors } from "../../random/tensors.ts";

/** A model in an export tool's form, and inputs for the model. */
export type Exported = {
  name: string;
  bytes: Uint8Array;
  inputs: ReadonlyMap<string, TensorData>;
  /** How far an element may be from plain onnxruntime's, as a part of the tensor's largest. */
  atol?: number;
};

type Attributes = Readonly<Record<string, AttributeValue>>;

/** Writes graphs with the habits of PyTorch's exporter: constants are nodes, sizes are computed from Shape. */
export class Exporter {
  readonly nodes: NodeSpec[] = [];
  readonly initializers: Record<string, TensorData> = {};
  readonly random: RandomTensors;
  readonly prefix: string;

  constructor(seed: number, prefix = "") {
    this.random = new RandomTensors(new Prng(seed));
    this.prefix = prefix;
  }

  node(op: string, inputs: readonly string[], attributes: Attributes = {}, domain = ""): string {
    return this.nodeOf(op, inputs, 1, attributes, domain)[0]!;
  }

  nodeOf(op: string, inputs: readonly string[], outputs: number, attributes: Attributes = {}, domain = ""): string[] {
    const at = `${this.prefix}/${op}_${this.nodes.length}`;
    const names = Array.from({ length: outputs }, (_, k) => `${at}_output_${k}`);
    this.nodes.push({ op, name: at, inputs, outputs: names, attributes, domain });
    return names;
  }

  constant(tensor: TensorData): string {
    return this.node("Constant", [], { value: { tensor } });
  }

  ints(...values: number[]): string {
    return this.constant(int64Tensor(values));
  }

  int(value: number): string {
    return this.constant(int64Tensor([value], []));
  }

  float(value: number): string {
    return this.constant(floatTensor([value], []));
  }

  initializer(tensor: TensorData): string {
    const name = `${this.prefix}w${Object.keys(this.initializers).length}`;
    this.initializers[name] = tensor;
    return name;
  }

  /** Weights in centre - spread .. centre + spread. */
  weight(shape: readonly number[], spread = 0.2, centre = 0): string {
    const values = Array.from(
      { length: elementCount(shape) },
      () => centre + (spread * this.random.int(-1000, 1000)) / 1000,
    );
    return this.initializer(floatTensor(values, shape));
  }

  /** A size of `x`, as PyTorch computes it: a scalar. */
  size(x: string, dim: number): string {
    return this.node("Gather", [this.node("Shape", [x]), this.int(dim)], { axis: 0 });
  }

  /** A shape from sizes and numbers: each unsqueezed, then joined. */
  shape(...parts: (string | number)[]): string {
    const lists = parts.map((part) =>
      typeof part === "number" ? this.ints(part) : this.node("Unsqueeze", [part, this.ints(0)]),
    );
    return this.node("Concat", lists, { axis: 0 });
  }

  reshape(x: string, ...parts: (string | number)[]): string {
    return this.node("Reshape", [x, this.shape(...parts)]);
  }

  linear(x: string, from: number, to: number): string {
    return this.node("Add", [
      this.weight([to]),
      this.node("MatMul", [x, this.weight([from, to], 1 / Math.sqrt(from))]),
    ]);
  }

  conv(
    x: string,
    from: number,
    to: number,
    kernel: readonly number[],
    attributes: Attributes = {},
    bias = true,
  ): string {
    const group = (attributes.group as number | undefined) ?? 1;
    const fan = (from / group) * elementCount(kernel);
    const weights = [
      this.weight([to, from / group, ...kernel], 1.5 / Math.sqrt(fan)),
      ...(bias ? [this.weight([to])] : []),
    ];
    return this.node("Conv", [x, ...weights], {
      dilations: kernel.map(() => 1),
      group,
      kernel_shape: kernel,
      pads: [...kernel, ...kernel].map((k) => Math.floor(k / 2)),
      strides: kernel.map(() => 1),
      ...attributes,
    });
  }

  batchNorm(x: string, channels: number): string {
    const vectors = [
      this.weight([channels], 0.2, 1),
      this.weight([channels]),
      this.weight([channels]),
      this.weight([channels], 0.3, 1),
    ];
    return this.node("BatchNormalization", [x, ...vectors], { epsilon: { float: 1e-5 }, momentum: { float: 0.9 } });
  }

  layerNorm(x: string, width: number): string {
    const [scale, shift] = [this.weight([width], 0.1, 1), this.weight([width], 0.1)];
    return this.node("LayerNormalization", [x, scale, shift], { axis: -1, epsilon: { float: 1e-5 } });
  }

  /** GELU by erf, as PyTorch writes it out. */
  gelu(x: string): string {
    const erf = this.node("Erf", [this.node("Div", [x, this.float(Math.SQRT2)])]);
    return this.node("Mul", [this.node("Mul", [x, this.node("Add", [erf, this.float(1)])]), this.float(0.5)]);
  }

  model(
    name: string,
    opset: number,
    inputs: Record<string, TensorData>,
    dims: Record<string, (number | string)[]>,
    outputs: Record<string, [value: string, dtype?: DType]>,
    atol?: number,
  ): Exported {
    for (const [output, [value]] of Object.entries(outputs))
      this.nodes.push({ op: "Identity", inputs: [value], outputs: [output] });
    const bytes = buildModel({
      opset,
      inputs: Object.entries(inputs).map(([key, { dtype, shape }]) => ({
        name: key,
        dtype,
        shape: dims[key] ?? shape,
      })),
      outputs: Object.entries(outputs).map(([key, [, dtype]]) => ({ name: key, dtype: dtype ?? DType.float32 })),
      nodes: this.nodes,
      initializers: this.initializers,
    });
    return { name, bytes, inputs: new Map(Object.entries(inputs)), ...(atol === undefined ? {} : { atol }) };
  }
}
