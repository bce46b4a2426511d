import type { Graph, Model, Node } from "../../model/onnx/model.ts";
import type { Budget } from "../budget.ts";
import type { GraphValues, Typed } from "../gradients/backward.ts";
import type { LazyTensor } from "../expressions/tensor.ts";
import { lowerGraph } from "../graph/lowerGraph.ts";
import { NodeContext } from "../lowering/nodeContext.ts";
import { ProgramBuilder } from "../steps/builder.ts";
import { drawingNode } from "./drawingNode.ts";

/**
 * Types, shapes and known integers of a graph's values, found by lowering its nodes; what that gives is thrown away.
 */
export class Values implements GraphValues {
  readonly #model: Model;
  readonly #builder: ProgramBuilder;
  #tensors: ReadonlyMap<string, LazyTensor>;
  #waiting: Node[] = [];
  readonly #given = new Set<string>();
  readonly drawingNode = drawingNode;
  readonly #initializers: Map<string, Graph["initializers"] extends ReadonlyMap<string, infer T> ? T : never>;

  /** @param shapes The concrete shape of each graph input. */
  constructor(model: Model, shapes: readonly (readonly number[])[], budget: Budget, seed: bigint | undefined) {
    this.#model = model;
    this.#builder = new ProgramBuilder(budget, seed);
    this.#initializers = new Map(model.graph.initializers);
    this.#tensors = new Map(
      model.graph.inputs.map(({ name, dtype }, i) => [name, this.#builder.input(i, dtype, shapes[i]!)] as const),
    );
    // Whichever numbers are drawn: types and shapes are the same.
    const { seedInputs } = model;
    if (seedInputs !== undefined) this.#builder.seed = { key: this.#tensors.get(seedInputs.seed)!, item: undefined };
  }

  /**
   * Adds further nodes of the graph, in graph order, with their constants. A node is left out if all outputs were added
   * before.
   */
  add(nodes: readonly Node[], initializers: Graph["initializers"] = new Map()): void {
    for (const node of nodes) {
      const outputs = node.outputs.map((name) => (this.#given.has(name) ? "" : name));
      if (outputs.every((name) => name === "")) continue;
      for (const name of outputs) this.#given.add(name);
      this.#waiting.push({ ...node, outputs });
    }
    for (const [name, data] of initializers) this.#initializers.set(name, data);
  }

  #tensor(name: string): LazyTensor | undefined {
    if (this.#waiting.length > 0 && !this.#tensors.has(name)) this.#lower();
    const known = this.#tensors.get(name);
    if (known !== undefined) return known;
    const data = this.#initializers.get(name);
    return data && this.#builder.constant(data);
  }

  #lower(): void {
    const nodes = this.#waiting.splice(0);
    const known = [...this.#tensors];
    const graph: Graph = {
      ...this.#model.graph,
      inputs: known.map(([name, { dtype, shape }]) => ({ name, dtype, shape })),
      outputs: [],
      nodes,
      initializers: this.#initializers,
    };
    const operands = known.map(([, tensor]) => tensor);
    this.#tensors = lowerGraph(this.#builder, { ...this.#model, graph }, operands).values;
  }

  /** Returns a value's type and shape; undefined for a sequence and for a value that no node produces. */
  of(name: string): Typed | undefined {
    return this.#tensor(name);
  }

  /** Returns a value's integers if known at compile time. */
  integers(name: string): number[] | undefined {
    const tensor = this.#tensor(name);
    return tensor && this.#builder.words(tensor)?.map(Number);
  }

  /** Returns the context for lowering the node. */
  contextOf(node: Node, opset: number): NodeContext {
    const inputs = node.inputs.map((name) => (name === "" ? undefined : this.#tensor(name)));
    return new NodeContext(this.#builder, node, opset, inputs);
  }
}
