import { elementCount } from "../../src/model/onnx/model.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel, type IoSpec, type NodeSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** Nodes and seeded weights of a small model. Weights are named in their order, so that models can share them. */
export class Builder extends GraphBuilder {
  readonly #prng = new Prng(7);
  #weights = 0;

  #weight(values: readonly number[], shape: readonly number[]): string {
    const name = `w${this.#weights++}`;
    this.initializers[name] = floatTensor(values, shape);
    return name;
  }

  /** About normally distributed, so that `fan` of them sum to a variance of `gain`. */
  weights(shape: readonly number[], fan: number, gain = 2): string {
    const next = (): number => (this.#prng.uint32() + this.#prng.uint32() + this.#prng.uint32()) / 2 ** 31 - 3;
    const deviation = Math.sqrt(gain / fan);
    return this.#weight(
      Array.from({ length: elementCount(shape) }, () => next() * deviation),
      shape,
    );
  }

  zeros = (shape: readonly number[]): string => this.#weight(new Array<number>(elementCount(shape)).fill(0), shape);

  conv(x: string, inputs: number, outputs: number, stride = 1): string {
    const attributes = { pads: [1, 1, 1, 1], strides: [stride, stride] };
    return this.node("Conv", [x, this.weights([outputs, inputs, 3, 3], 9 * inputs), this.zeros([outputs])], attributes);
  }

  /** @param name The name of the output, if the output belongs to the model. */
  dense(x: string, inputs: number, outputs: number, { gain = 2, name }: { gain?: number; name?: string } = {}): string {
    const taken = [x, this.weights([inputs, outputs], inputs, gain), this.zeros([outputs])];
    return name === undefined ? this.node("Gemm", taken) : this.named(name, "Gemm", taken);
  }

  /** A node whose output has a name. */
  named(output: string, op: string, inputs: readonly string[], attributes: NodeSpec["attributes"] = {}): string {
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  /** The bytes of the model. */
  build(inputs: readonly IoSpec[], outputs: readonly IoSpec[]): Uint8Array {
    return buildModel({ opset: 18, inputs, outputs, nodes: this.nodes, initializers: this.initializers });
  }
}
