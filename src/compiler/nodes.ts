import type { DType } from "../numerics/dtype.ts";
import type { Attribute, Node, TensorData } from "../model/onnx/model.ts";
import { int64Tensor, numberTensor } from "../model/onnx/tensorData.ts";

/** The domain of operators found only in compiler-made graphs. */
export const OWN_DOMAIN = "refute";

/** The operator sets in which the nodes of a wrapping are written, whatever the model's are. */
const OPSETS: ReadonlyMap<string, number> = new Map([
  ["", 21],
  [OWN_DOMAIN, 1],
]);

/** An attribute's value: a number is an integer, `float` marks a float. */
export type AttributeValue = number | readonly number[] | string | { float: number };

function attributeOf(value: AttributeValue): Attribute {
  if (typeof value === "number") return { kind: "int", value: BigInt(value) };
  if (typeof value === "string") return { kind: "string", value };
  if ("float" in value) return { kind: "float", value: value.float };
  return { kind: "ints", value: value.map(BigInt) };
}

/** Collects constants and one-output nodes to put around a model. */
export class NodeList {
  readonly nodes: Node[] = [];
  readonly initializers = new Map<string, TensorData>();
  readonly #prefix: string;
  #made = 0;

  /** @param prefix The prefix for all names made by this list. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Adds a node. @returns the name of the node's output, `output` if given */
  node(
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
    { output = this.fresh(operator), domain = "" } = {},
  ): string {
    const all = Object.entries(attributes).map(([name, value]) => [name, attributeOf(value)] as const);
    this.nodes.push({
      ...{ name: output, operator, domain, inputs, outputs: [output] },
      ...{ attributes: new Map(all), opsets: OPSETS },
    });
    return output;
  }

  /** A node of the compiler's own operators. */
  own(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, AttributeValue>> = {}): string {
    return this.node(operator, inputs, attributes, { domain: OWN_DOMAIN });
  }

  constant(tensor: TensorData): string {
    const name = this.fresh("Constant");
    this.initializers.set(name, tensor);
    return name;
  }

  /** A constant int64[n]. */
  integers(...values: readonly number[]): string {
    return this.constant(int64Tensor(values));
  }

  /** A constant of a type, a scalar. */
  scalar(dtype: DType, value: number): string {
    return this.constant(numberTensor(dtype, [value], []));
  }

  reshape(x: string, shape: readonly number[]): string {
    return this.node("Reshape", [x, this.integers(...shape)]);
  }

  /** A name that nothing else has. */
  fresh(operator: string): string {
    return `${this.#prefix}${operator}_${this.#made++}`;
  }
}
