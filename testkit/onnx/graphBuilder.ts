import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import type { AttributeValue, NodeSpec } from "./onnxBuilder.ts";

/** Collects single-output nodes and constants, and names them. */
export class GraphBuilder {
  readonly nodes: NodeSpec[] = [];
  readonly initializers: Record<string, TensorData> = {};

  node(op: string, inputs: readonly string[], attributes: Readonly<Record<string, AttributeValue>> = {}): string {
    const output = `${op.toLowerCase()}_${this.nodes.length}`;
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  constant(tensor: TensorData): string {
    const name = `c${Object.keys(this.initializers).length}`;
    this.initializers[name] = tensor;
    return name;
  }

  scalar(value: number): string {
    return this.constant(floatTensor([value], []));
  }
}
