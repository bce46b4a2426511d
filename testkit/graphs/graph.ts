import fc from "fast-check";
import { DType, dtypeName } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { Experiment } from "../onnx/agreement.ts";
import type { AttributeValue, NodeSpec } from "../onnx/onnxBuilder.ts";
import type { Choices } from "./choices.ts";
import { fill, STYLES, type Content, type Style } from "./data.ts";

/** A value of the graph under construction. */
export type Value = { name: string; dtype: DType; shape: readonly number[] };

/** The limits on a graph's contents. */
export type GraphLimits = {
  /** Types that recipes may choose for values; every type if left out. */
  dtypes?: readonly DType[];
  /** Styles of inputs and initializers. */
  styles: readonly Style[];
  /** No value has more elements: the reference executor is slow. */
  maxElements: number;
  /** If true, recipes mostly read the latest values, and chains grow long. If false, recipes read any fitting value. */
  chains: boolean;
};

const ANY_GRAPH: GraphLimits = { styles: STYLES, maxElements: 3000, chains: false };
/** How far back a chain reads. */
const BACK = [0, 0, 0, 1, 1, 2, 4];

/** An ONNX graph under construction: every value's type and shape is known. */
export class Graph {
  readonly opset: number;
  readonly values: Value[] = [];
  readonly nodes: NodeSpec[] = [];
  readonly #contents = new Map<string, Content & Value>();
  readonly #initializers: Record<string, TensorData> = {};
  readonly #used = new Set<string>();
  readonly #limits: GraphLimits;

  constructor(opset: number, limits: GraphLimits = ANY_GRAPH) {
    this.opset = opset;
    this.#limits = limits;
  }

  /** A new input of the model. */
  input(c: Choices, dtype: DType, shape: readonly number[], indexOf?: number): Value {
    const value = { name: `x${this.#contents.size}`, dtype, shape };
    const content: Content = { style: c.pick(this.#limits.styles), seed: c.below(1000) };
    this.#contents.set(value.name, { ...value, ...content, ...(indexOf === undefined ? {} : { indexOf }) });
    this.values.push(value);
    return value;
  }

  /** A new initializer. */
  constant(c: Choices, dtype: DType, shape: readonly number[], indexOf?: number): Value {
    const content: Content = { style: c.pick(this.#limits.styles), seed: c.below(1000) };
    return this.known(fill(dtype, shape, indexOf === undefined ? content : { ...content, indexOf }));
  }

  /** A new initializer with given content. */
  known(tensor: TensorData): Value {
    const name = `c${Object.keys(this.#initializers).length}`;
    this.#initializers[name] = tensor;
    return { name, dtype: tensor.dtype, shape: tensor.shape };
  }

  integers(list: readonly number[]): Value {
    return this.known(int64Tensor([...list]));
  }

  /**
   * Returns a fitting value, or a new input if none fits. Without `chains`, the first choice means the oldest value.
   */
  pick(
    c: Choices,
    dtypes: readonly DType[],
    fits: (shape: readonly number[]) => boolean,
    shape: () => number[],
  ): Value {
    const { dtypes: own, chains } = this.#limits;
    const allowed = own === undefined ? dtypes : dtypes.filter((dtype) => own.includes(dtype));
    const known = this.values.filter((value) => allowed.includes(value.dtype) && fits(value.shape));
    if (chains && known.length > 0) return known.at(-1 - Math.min(c.pick(BACK), known.length - 1))!;
    const k = c.below(known.length + (known.length < 4 ? 1 : 0));
    return known[k] ?? this.input(c, c.pick(allowed), shape());
  }

  /** Returns a value of any shape with at least the given rank. */
  any(c: Choices, dtypes: readonly DType[], minRank = 0, maxRank = 5): Value {
    const fits = (shape: readonly number[]): boolean => shape.length >= minRank && shape.length <= maxRank;
    return this.pick(c, dtypes, fits, () => c.shape(c.int(minRank, Math.min(maxRank, minRank + 3)), 5));
  }

  /** Adds a node; nothing where an output would be too large. */
  node(
    op: string,
    inputs: readonly (Value | undefined)[],
    outputs: readonly (readonly [DType, readonly number[]])[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
    domain = "",
  ): Value[] {
    if (outputs.some(([, shape]) => elementCount(shape) > this.#limits.maxElements || elementCount(shape) === 0))
      return [];
    const made = outputs.map(([dtype, shape], k) => ({
      name: `v${this.nodes.length}${k > 0 ? `_${k}` : ""}`,
      dtype,
      shape,
    }));
    const names = inputs.map((value) => value?.name ?? "");
    while (names.at(-1) === "") names.pop();
    this.nodes.push({ op, inputs: names, outputs: made.map(({ name }) => name), attributes, domain });
    for (const name of names) this.#used.add(name);
    this.values.push(...made);
    return made;
  }

  /** @param isOutput Whether the graph outputs a value made by a node; `isRead` if another node reads the value. */
  experiment(isOutput: (value: Value, isRead: boolean) => boolean): Experiment {
    const made = this.values.filter(
      (value) => value.name.startsWith("v") && isOutput(value, this.#used.has(value.name)),
    );
    return {
      opset: this.opset,
      operands: Object.fromEntries([...this.#contents].map(([name, x]) => [name, fill(x.dtype, x.shape, x)])),
      initializers: this.#initializers,
      nodes: this.nodes,
      outputs: Object.fromEntries(made.map(({ name, dtype }) => [name, dtype])),
    };
  }

  /** How fast-check shows a counterexample. */
  [fc.toStringMethod](): string {
    return this.text();
  }

  /** For people: one line for each input, initializer and node. */
  text(): string {
    const type = ({ dtype, shape }: { dtype: DType; shape: readonly number[] }): string =>
      `${dtypeName(dtype)}[${shape.join()}]`;
    const inputs = [...this.#contents.values()].map(
      (x) => `${x.name}: ${type(x)} ${x.style} ${x.seed}${x.indexOf === undefined ? "" : ` index of ${x.indexOf}`}`,
    );
    const constants = Object.entries(this.#initializers).map(
      ([name, x]) => `${name} = ${type(x)} ${Buffer.from(x.bytes.subarray(0, 24)).toString("hex")}`,
    );
    const nodes = this.nodes.map(
      (n) => `${n.outputs.join(", ")} = ${n.op}(${n.inputs.join(", ")}) ${attributesText(n)}`,
    );
    return [`opset ${this.opset}`, ...inputs, ...constants, ...nodes].join("\n");
  }
}

const attributesText = ({ attributes = {} }: NodeSpec): string =>
  JSON.stringify(attributes, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));

/** Adds a node, or a few, as the choices say. */
export type Recipe = (g: Graph, c: Choices) => void;
