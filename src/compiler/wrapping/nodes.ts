import type { Attribute, Node, TensorData } from "../../onnx/model.ts";
import { int64Tensor } from "../../onnx/tensorData.ts";
import { OWN_DOMAIN } from "../operators/own/registry.ts";

/** The operator sets in which the nodes of a wrapping are written, whatever the model's are. */
const OPSETS: ReadonlyMap<string, number> = new Map([
  ["", 21],
  [OWN_DOMAIN, 1],
]);

/** Collects nodes of one output, and constants, that are put around a model. */
export class Nodes {
  readonly nodes: Node[] = [];
  readonly initializers = new Map<string, TensorData>();
  readonly #prefix: string;
  #made = 0;

  /** @param prefix All names that are made here begin with it. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** A node. @returns the name of its output, `output` if given */
  node(
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, number>> = {},
    { output = this.#name(operator), domain = "" } = {},
  ): string {
    const all = Object.entries(attributes).map(([name, value]): [string, Attribute] => [
      name,
      { kind: "int", value: BigInt(value) },
    ]);
    this.nodes.push({
      ...{ name: output, operator, domain, inputs, outputs: [output] },
      ...{ attributes: new Map(all), opsets: OPSETS },
    });
    return output;
  }

  /** A node of the compiler's own operators. */
  own(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, number>> = {}): string {
    return this.node(operator, inputs, attributes, { domain: OWN_DOMAIN });
  }

  constant(tensor: TensorData): string {
    const name = this.#name("Constant");
    this.initializers.set(name, tensor);
    return name;
  }

  /** A constant int64[n]. */
  integers(...values: readonly number[]): string {
    return this.constant(int64Tensor(values));
  }

  reshape(x: string, shape: readonly number[]): string {
    return this.node("Reshape", [x, this.integers(...shape)]);
  }

  #name(operator: string): string {
    return `${this.#prefix}${operator}_${this.#made++}`;
  }
}
