import { DType, dtypeName, isFloat, isHalf } from "../../numerics/dtype.ts";
import type { Attribute, Dim, Model, Node, TensorData, ValueInfo } from "../onnx/model.ts";
import { floatTensor, int64Tensor } from "../onnx/tensorData.ts";
import { decideText, type DecideSpec } from "./decideSpec.ts";
import { DecideError } from "./errors.ts";

/** The decision for an output: nodes after the model's own, and the output that replaces the original. */
type Appended = { nodes: Node[]; initializers: Map<string, TensorData>; output: ValueInfo };

/**
 * Returns the model with decisions in place of float outputs. The output `scores` becomes `scores_argmax`,
 * `scores_top5` or `scores_round2`; the other outputs stay. The same appended decisions give the same program root.
 * @param decide Decisions by output.
 * @throws DecideError for a missing output, or for an output that this decision does not fit
 */
export function appendDecisions(model: Model, decide: Readonly<Record<string, DecideSpec>>): Model {
  const entries = Object.entries(decide);
  if (entries.length === 0) return model;
  const { graph } = model;
  const appended = new Map(entries.map(([name, spec]) => [name, appendedNodes(model, name, spec)] as const));
  const all = [...appended.values()];
  return {
    ...model,
    graph: {
      ...graph,
      nodes: [...graph.nodes, ...all.flatMap(({ nodes }) => nodes)],
      initializers: new Map([...graph.initializers, ...all.flatMap(({ initializers }) => [...initializers])]),
      outputs: graph.outputs.map((output) => appended.get(output.name)?.output ?? output),
    },
  };
}

/** Returns the nodes that decide a model's output. @throws DecideError */
export function appendedNodes(model: Model, name: string, spec: DecideSpec): Appended {
  const { graph, source, opsets } = model;
  const refuse = (what: string): never => {
    throw new DecideError(`${source}: the output "${name}" cannot be decided by ${decideText(spec)}: ${what}`);
  };
  const output = graph.outputs.find((candidate) => candidate.name === name);
  if (output === undefined) {
    const names = graph.outputs.map((candidate) => `"${candidate.name}"`).join(", ");
    return refuse(`the model has no such output; its outputs are ${names}`);
  }
  if (output.dtype === undefined) return refuse("the model does not say its type: write the type into the model");
  if (!isFloat(output.dtype)) refuse(`it is ${dtypeName(output.dtype)}, and only floats are decided`);
  const opset = opsets.get("") ?? 0;
  const chain = new Chain(`${name}_${decideText(spec).replace("=", "")}`, name);
  const taken = [...graph.initializers.keys(), ...graph.inputs.map((input) => input.name)];
  const made = new Set([...taken, ...graph.nodes.flatMap(({ outputs }) => outputs)]);
  if ([...made].some((value) => value === chain.output || value.startsWith(`${chain.output}.`)))
    refuse(`the model has a value "${chain.output}" already`);

  // Floats of 16 bits are widened: few runtimes compare them.
  const dtype = isHalf(output.dtype) ? DType.float32 : output.dtype;
  if (dtype !== output.dtype) chain.push("widened", "Cast", [], { to: dtype });
  return spec.kind === "round" ? round(spec.decimals) : places(spec.kind === "top" ? spec.k : undefined);

  function round(decimals: number): Appended {
    if (opset < 11) refuse(`Round came with operator set 11, the model has ${opset}: convert the model`);
    if (decimals > 0) chain.push("scaled", "Mul", [["factor", factor(10 ** decimals, dtype)]]);
    chain.push("rounded", "Round", []);
    chain.push(undefined, "Cast", [], { to: DType.int64 });
    return chain.appended(output!.shape);
  }

  function places(k: number | undefined): Appended {
    const { shape } = output!;
    const last = shape?.at(-1);
    if (shape?.length === 0) refuse("it has no axis");
    if (k !== undefined && typeof last === "number" && last > 0 && k > last) refuse(`its last axis has ${last} places`);
    if (k === undefined) {
      // Places from the end came with operator set 11.
      if (opset < 11 && shape === undefined) refuse("the model does not say its rank");
      chain.push(undefined, "ArgMax", [], { axis: opset < 11 ? shape!.length - 1 : -1, keepdims: 0 });
      return chain.appended(shape?.slice(0, -1));
    }
    if (opset < 10) chain.push("values", "TopK", [], { axis: -1, k }, chain.output);
    else chain.push("values", "TopK", [["k", int64Tensor([k])]], { axis: -1 }, chain.output);
    return chain.appended(shape && [...shape.slice(0, -1), k]);
  }
}

function factor(value: number, dtype: DType): TensorData {
  if (dtype === DType.float32) return floatTensor([value], []);
  return { dtype, shape: [], bytes: new Uint8Array(Float64Array.of(value).buffer) };
}

/** Nodes one behind the other. */
class Chain {
  readonly output: string;
  #last: string;
  readonly #nodes: Node[] = [];
  readonly #initializers = new Map<string, TensorData>();

  constructor(output: string, from: string) {
    this.output = output;
    this.#last = from;
  }

  /** A node that reads the last one. @param stage names its first output; the chain's output if left out */
  push(
    stage: string | undefined,
    operator: string,
    constants: readonly (readonly [string, TensorData])[],
    attributes: Readonly<Record<string, number>> = {},
    second?: string,
  ): void {
    const name = stage === undefined ? this.output : `${this.output}.${stage}`;
    const named = constants.map(([key, value]) => [`${this.output}.${key}`, value] as const);
    for (const [key, value] of named) this.#initializers.set(key, value);
    this.#nodes.push({
      name,
      operator,
      domain: "",
      inputs: [this.#last, ...named.map(([key]) => key)],
      outputs: [name, ...(second === undefined ? [] : [second])],
      attributes: new Map(
        Object.entries(attributes).map(([key, value]): [string, Attribute] => [
          key,
          { kind: "int", value: BigInt(value) },
        ]),
      ),
    });
    this.#last = name;
  }

  appended(shape: readonly Dim[] | undefined): Appended {
    const output = { name: this.output, dtype: DType.int64, shape };
    return { nodes: this.#nodes, initializers: this.#initializers, output };
  }
}
