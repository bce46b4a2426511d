import { nodeLabel, type Body, type Node, type TensorData } from "../../model/onnx/model.ts";
import { controlResults } from "./subgraphs.ts";
import { namesRead } from "../../model/onnx/names.ts";
import type { DecidedOutput, Decision, UndecidedOutput } from "../../model/decision/decision.ts";
import { nodeDecision, UNORDERED, type Surroundings } from "../../model/decision/readDecision.ts";
import { constantBound } from "./integerBound.ts";
import { operatorClass } from "./operatorClass.ts";
import { resultOf } from "./valueOf.ts";
import { given, joined, unread, type ValueState } from "./valueState.ts";

type Context = {
  opset: number;
  /** How many nodes more may be looked at. */
  visits: { left: number };
  /** The walk through the graph around a body. */
  outer?: Walk;
};

/** A walk through one graph or body, starting from the inputs. */
export class Walk {
  readonly #states = new Map<string, ValueState>();
  readonly #decisions = new Map<Node, Decision>();
  readonly #producers = new Map<string, Node>();
  readonly #constants: Map<string, TensorData>;
  readonly #context: Context;
  readonly #around: Omit<Surroundings, "exact" | "isConstant">;

  constructor(
    { nodes, initializers }: Pick<Body, "nodes" | "initializers">,
    inputs: ReadonlyMap<string, ValueState>,
    context: Context,
  ) {
    this.#context = context;
    this.#constants = new Map(initializers);
    for (const [name, value] of initializers)
      this.#states.set(name, given(value.dtype, { constant: true, bound: constantBound(value) }));
    for (const [name, state] of inputs) this.#states.set(name, state);
    this.#around = {
      opset: context.opset,
      constant: (name) => this.#constants.get(name),
      producer: (name) => this.#producers.get(name),
    };
    for (const node of nodes) this.#visit(node);
  }

  /** The state of a value. */
  state(name: string): ValueState {
    return this.#states.get(name) ?? this.#context.outer?.state(name) ?? unread(`"${name}" is given by no node`);
  }

  /**
   * Returns an output of the graph with all decisions leading to the output.
   * @param carried Inputs taken from the previous item's outputs, by name.
   */
  output(name: string, carried: Readonly<Record<string, string>>): DecidedOutput | UndecidedOutput {
    const { kind, reason } = this.state(name);
    if (kind === "approximate") return { name, reason: `it has floats of ${reason}, which differ between machines` };
    if (kind === "unread") return { name, reason };
    const decisions = new Set<Decision>();
    const seen = new Set<string>();
    const names = [name];
    for (let next = names.pop(); next !== undefined; next = names.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (Object.hasOwn(carried, next)) names.push(carried[next]!);
      const node = this.#producers.get(next);
      if (node === undefined) continue;
      const decision = this.#decisions.get(node);
      if (decision !== undefined) decisions.add(decision);
      // A node that reads only input shapes decides nothing by the inputs.
      if (operatorClass(node).kind === "shape") continue;
      names.push(...namesRead(node));
    }
    return { name, decisions: [...decisions] };
  }

  #visit(node: Node): void {
    const results = this.#results(node);
    node.outputs.forEach((name, k) => {
      if (name === "") return;
      this.#producers.set(name, node);
      this.#states.set(name, results(k));
    });
    const value = node.operator === "Constant" ? node.attributes.get("value") : undefined;
    if (value?.kind === "tensor" && node.outputs[0] !== undefined) this.#constants.set(node.outputs[0], value.value);
  }

  /** The state of each output of a node. */
  #results(node: Node): (output: number) => ValueState {
    const place = `${nodeLabel(node)} (${node.operator})`;
    const { visits, opset } = this.#context;
    if (--visits.left < 0) return () => unread(`${place} lies in too many bodies`);
    const inputs = node.inputs.map((name) => (name === "" ? undefined : this.state(name)));
    const inner = controlResults(node, inputs, (body, states) => {
      const walk = new Walk(body, states, { opset, visits, outer: this });
      return body.outputs.map((name) => walk.state(name));
    });
    if (inner !== undefined) return (k) => inner[k] ?? unread(`${place} does not give it`);
    const why = this.#decide(node, joined(inputs.filter((input) => input !== undefined)));
    return (k) => (why === undefined ? resultOf(node, inputs, k, this.#constants) : unread(`${place} ${why}`));
  }

  /** Notes a node's decision, if it makes one. @returns the reason why the node's decision cannot be read, if so */
  #decide(node: Node, all: ValueState): string | undefined {
    const of = operatorClass(node);
    if (of.kind !== "decision" && of.kind !== "cast") return undefined;
    if (of.kind === "decision" && of.isUnordered?.(node, this.#around) === true) return UNORDERED;
    if (all.kind === "unread") return undefined;
    const isExact = all.kind === "exact";
    // Integers and constants decide nothing.
    if (isExact && (all.constant || this.state(node.inputs[0]!).float === false)) return undefined;
    if (isExact && of.kind === "decision") return undefined;
    if (of.kind === "cast" && of.like === true && this.state(node.inputs[1]!).float === true) return undefined;
    const decision = nodeDecision(node, of.read, { ...this.#around, exact: isExact, isConstant: all.constant });
    if (decision === undefined || typeof decision === "string") return decision;
    if (this.#context.outer !== undefined) return "decides within a body, whose values cannot be fetched";
    if (decision.tensors.some((name) => this.#isHidden(name)))
      return "decides by a value within a function of the model, which cannot be fetched";
    this.#decisions.set(node, decision);
    return undefined;
  }

  /** Returns true for a value inside a model function: the compiler makes the name, and no file contains it. */
  #isHidden(name: string): boolean {
    return name.includes("::") && this.#producers.get(name)?.opsets !== undefined;
  }
}
