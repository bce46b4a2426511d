import { isFloat } from "../numerics/dtype.ts";
import { nodeLabel, type Model, type Node, type TensorData } from "../onnx/model.ts";
import type { DecidedOutput, Decision, UndecidedOutput } from "./decision.ts";
import { nodeDecision, type Surroundings } from "./nodeDecision.ts";
import { operatorClass } from "./operatorClasses.ts";
import { resultOf } from "./resultOf.ts";
import { exact, joined, unread, type ValueState } from "./valueState.ts";

/** What is known of each output of a model. */
export type FoundDecisions = { outputs: (DecidedOutput | UndecidedOutput)[] };

/**
 * Finds for each output of a model whether all that may differ between machines is decided before it. An output is
 * decided if every path from it to floats that are computed from inputs passes a decision, and nothing behind that can
 * differ: integers, bools, moved elements, and one multiplication or division by a constant.
 *
 * Decisions that lie before floats which decide again belong to an output too. Deciding tensors have the names of the
 * model's own graph. What random operators draw, and what is rounded to few bits on the way, decides nothing.
 *
 * @param carried Of a run: inputs that are outputs of the item before, by name. What they carry differs as those do.
 */
export function findDecisions(model: Model, carried: Readonly<Record<string, string>> = {}): FoundDecisions {
  let assumed = new Map<string, ValueState>();
  for (;;) {
    const walk = new Walk(model, carried, assumed);
    // An integer that is carried is as exact as the output that it was: assumed first, then checked.
    const wrong = Object.entries(carried).filter(([input, output]) => {
      const state = walk.state(output);
      return state.kind !== "exact" && walk.state(input).kind === "exact";
    });
    if (wrong.length === 0) return { outputs: model.graph.outputs.map(({ name }) => walk.output(name)) };
    assumed = new Map(assumed);
    for (const [input, output] of wrong) assumed.set(input, walk.state(output));
  }
}

/** One walk through a graph, from its inputs on. */
class Walk {
  readonly #states = new Map<string, ValueState>();
  readonly #decisions = new Map<Node, Decision>();
  readonly #producers = new Map<string, Node>();
  readonly #constants: Map<string, TensorData>;
  readonly #carried: Readonly<Record<string, string>>;
  readonly #around: Omit<Surroundings, "exact" | "isConstant">;

  constructor(
    { graph, opsets }: Model,
    carried: Readonly<Record<string, string>>,
    assumed: ReadonlyMap<string, ValueState>,
  ) {
    this.#carried = carried;
    this.#constants = new Map(graph.initializers);
    for (const [name, { dtype }] of graph.initializers)
      this.#states.set(name, exact(isFloat(dtype), { constant: true }));
    for (const { name, dtype } of graph.inputs) this.#states.set(name, assumed.get(name) ?? exact(isFloat(dtype)));
    this.#around = {
      opset: opsets.get("") ?? 0,
      constant: (name) => this.#constants.get(name),
      producer: (name) => this.#producers.get(name),
    };
    for (const node of graph.nodes) this.#visit(node);
  }

  state(name: string): ValueState {
    return this.#states.get(name) ?? unread(`"${name}" is given by no node`);
  }

  /** An output with all decisions on the way to it. */
  output(name: string): DecidedOutput | UndecidedOutput {
    const { kind, reason } = this.state(name);
    if (kind === "approximate") return { name, reason: `it has floats of ${reason}, which differ between machines` };
    if (kind === "unread") return { name, reason };
    const decisions: Decision[] = [];
    const seen = new Set<string>();
    const names = [name];
    for (let next = names.pop(); next !== undefined; next = names.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      const before = Object.hasOwn(this.#carried, next) ? this.#carried[next] : undefined;
      if (before !== undefined) names.push(before);
      const node = this.#producers.get(next);
      if (node === undefined) continue;
      const decision = this.#decisions.get(node);
      if (decision !== undefined && !decisions.includes(decision)) decisions.push(decision);
      // What only its shape is read of decides nothing.
      if (operatorClass(node).kind !== "shape") names.push(...node.inputs);
    }
    return { name, decisions };
  }

  #visit(node: Node): void {
    const inputs = node.inputs.map((name) => (name === "" ? undefined : this.state(name)));
    const why = this.#decide(node, joined(inputs.filter((input) => input !== undefined)));
    node.outputs.forEach((name, k) => {
      if (name === "") return;
      this.#producers.set(name, node);
      this.#states.set(name, why === undefined ? resultOf(node, inputs, k) : unread(why));
    });
    const value = node.operator === "Constant" ? node.attributes.get("value") : undefined;
    if (value?.kind === "tensor" && node.outputs[0] !== undefined) this.#constants.set(node.outputs[0], value.value);
  }

  /** Notes the decision of a node, if it makes one. @returns why it makes none that can be read, where it does not */
  #decide(node: Node, all: ValueState): string | undefined {
    const { kind } = operatorClass(node);
    if ((kind !== "decision" && kind !== "cast") || all.kind === "unread") return undefined;
    // Of integers, and of constants, nothing is decided.
    if (all.kind === "exact" && (all.constant || this.state(node.inputs[0]!).float === false)) return undefined;
    if (node.operator === "CastLike" && this.state(node.inputs[1]!).float === true) return undefined;
    const decision = nodeDecision(node, {
      ...this.#around,
      exact: all.kind === "exact",
      isConstant: all.constant,
    });
    if (decision === undefined) return undefined;
    const place = `${nodeLabel(node)} (${node.operator})`;
    if (typeof decision === "string") return `${place} ${decision}`;
    if (decision.tensors.some((name) => this.#isHidden(name)))
      return `${place} decides by a value within a function of the model, which cannot be fetched`;
    this.#decisions.set(node, decision);
    return undefined;
  }

  /** Whether a value is one of a function of the model: its name is made here, and not in the file. */
  #isHidden(name: string): boolean {
    return name.includes("::") && this.#producers.get(name)?.opsets !== undefined;
  }
}
