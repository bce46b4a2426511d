import { isFloat } from "../../numerics/dtype.ts";
import type { Model, Node } from "../../model/onnx/model.ts";
import { UnsupportedOperatorError } from "../errors.ts";
import type { NodeList } from "../nodes.ts";
import { Backward, type GraphValues, type Rule } from "../gradients/backward.ts";
import { namesRead } from "../../model/onnx/names.ts";
import { findRow } from "../table/registry.ts";

/** The differentiated value, and the values to differentiate by: names in the graph. */
type GradientRequest = {
  /** The Gradient node that asks, for messages. */
  asked: Node;
  y: string;
  xs: readonly string[];
};

/**
 * Differentiates in reverse mode: writes nodes for the gradient of `y`'s sum by each value in `xs`. A value in `xs`
 * counts as given: nothing before the value is differentiated.
 * @param nodes The graph's nodes up to this point, in order. A node without an output needed by a rule is replaced in
 *   place.
 * @param n Receives the written nodes.
 * @returns the gradients' names
 * @throws UnsupportedOperatorError by the node that has no gradient
 */
export function differentiate(
  { opsets }: Model,
  nodes: Node[],
  { asked, y, xs }: GradientRequest,
  n: NodeList,
  values: GraphValues,
) {
  const given = new Set(xs);
  const active = activeValues(nodes, given, values);
  const refuse = (name: string): never => {
    throw new UnsupportedOperatorError(asked, undefined, `"${y}" does not depend on ${name} by floats`);
  };
  if (!active.has(y)) refuse(xs.join(", "));
  const terms = new Terms(n);
  const { dtype, shape } = values.of(y)!;
  const one = n.scalar(dtype, 1);
  terms.add(y, shape.length === 0 ? one : n.node("Expand", [one, n.integers(...shape)]));
  sweep({ opsets, given, active, terms, n, values }, nodes);
  return xs.map((name) => terms.total(name) ?? refuse(`"${name}"`));
}

/** The gradients of values: terms, added when the total is requested. */
class Terms {
  readonly #terms = new Map<string, string[]>();
  readonly #n: NodeList;

  constructor(n: NodeList) {
    this.#n = n;
  }

  has(name: string): boolean {
    return this.#terms.has(name);
  }

  add(name: string, term: string): void {
    this.#terms.set(name, [...(this.#terms.get(name) ?? []), term]);
  }

  /** The sum of a value's terms; undefined if it has none. */
  total(name: string): string | undefined {
    const all = this.#terms.get(name);
    if (all === undefined) return undefined;
    const total = all.length === 1 ? all[0]! : all.reduce((sum, term) => this.#n.node("Add", [sum, term]));
    this.#terms.set(name, [total]);
    return total;
  }
}

type Sweep = {
  opsets: Model["opsets"];
  given: ReadonlySet<string>;
  /** Values that depend on those given; those of a composition are added. */
  active: Set<string>;
  terms: Terms;
  n: NodeList;
  values: GraphValues;
};

/** Goes over nodes from the last to the first, and adds the gradient terms of the values that they read. */
function sweep(of: Sweep, nodes: Node[]): void {
  const { opsets, given, active, terms, n, values } = of;
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at]!;
    const asks = node.outputs.some((name) => terms.has(name) && !given.has(name));
    if (!asks || !namesRead(node).some((name) => active.has(name))) continue;
    const gradients = node.outputs.map((name) => (given.has(name) ? undefined : terms.total(name)));
    const [rule, composed] = ruleOf(node, gradients, active);
    const opset = (node.opsets ?? opsets).get(node.domain) ?? 0;
    const output = (index: number): string => {
      const outputs = [...nodes[at]!.outputs];
      while (outputs.length < index) outputs.push("");
      outputs[index] ||= n.fresh(node.operator);
      const longer = { ...nodes[at]!, outputs };
      nodes[at] = longer;
      values.add([longer]);
      return outputs[index];
    };
    const backward = new Backward({ node, opset, gradients, active, output }, n, values);
    if (composed) {
      sweepComposition(of, rule, backward, gradients);
      continue;
    }
    const results = rule(backward);
    node.inputs.forEach((name, input) => {
      const own = results[input];
      if (active.has(name) && own !== undefined) terms.add(name, own);
    });
  }
}

/**
 * Differentiates the nodes that a rule writes to stand for a node; the written nodes are evaluated in addition to the
 * node.
 */
function sweepComposition(of: Sweep, rule: Rule, backward: Backward, gradients: readonly (string | undefined)[]): void {
  const { n, values, terms, active } = of;
  const first = n.nodes.length;
  const outputs = rule(backward);
  const own = n.nodes.splice(first);
  values.add(own, n.initializers);
  for (const name of activeValues(own, active, values)) active.add(name);
  gradients.forEach((gradient, k) => {
    if (gradient !== undefined)
      terms.add(outputs[k] ?? backward.refuse(`its output ${k} has no gradient rule`), gradient);
  });
  sweep(of, own);
  n.nodes.splice(first, 0, ...own);
}

/** The values that depend on others by floats only. */
function activeValues(nodes: readonly Node[], given: ReadonlySet<string>, values: GraphValues): Set<string> {
  const active = new Set(given);
  for (const node of nodes)
    if (namesRead(node).some((name) => active.has(name)))
      for (const name of node.outputs) {
        // A value without a type is a sequence. If the sequence matters, its node is refused.
        const dtype = name === "" ? undefined : values.of(name)?.dtype;
        if (name !== "" && (dtype === undefined || isFloat(dtype))) active.add(name);
      }
  return active;
}

/** How a node is differentiated, with all fields. A node without a row has no rule. */
function gradientOf(
  node: Node,
): { rule: Rule; composed: boolean; without: readonly number[]; allOutputs: boolean } | string {
  const row = findRow(node);
  const gradient = row !== undefined && "gradient" in row ? row.gradient : undefined;
  if (gradient === undefined) return "the operator has no gradient rule";
  if (typeof gradient === "function") return { rule: gradient, composed: false, without: [], allOutputs: false };
  if ("refused" in gradient) return gradient.refused;
  const { without = [] } = gradient;
  if ("composition" in gradient) return { rule: gradient.composition, composed: true, without, allOutputs: true };
  return { rule: gradient.rule, composed: false, without, allOutputs: gradient.allOutputs === true };
}

/** Returns a node's rule, and true if the rule is a composition. */
function ruleOf(
  node: Node,
  gradients: readonly (string | undefined)[],
  active: ReadonlySet<string>,
): [rule: Rule, composed: boolean] {
  const refuse = (why: string): never => {
    throw new UnsupportedOperatorError(node, undefined, `Gradient: ${why}`);
  };
  const found = gradientOf(node);
  if (typeof found === "string") return refuse(found);
  const { rule, composed, without, allOutputs } = found;
  const given = without.find((input) => active.has(node.inputs[input] ?? ""));
  if (given !== undefined) return refuse(`its input ${given} has no gradient rule`);
  const further = gradients.findIndex((gradient, k) => k > 0 && gradient !== undefined);
  if (further > 0 && !allOutputs) return refuse(`its output ${further} has no gradient rule`);
  return [rule, composed];
}

/** The inputs of floats that have no gradient. */
function inputsWithout(node: Node): readonly number[] {
  const found = gradientOf(node);
  return typeof found === "string" ? [] : found.without;
}

/**
 * Returns the values on which `y` depends by floats and through inputs with a gradient.
 * @param isFloat True if a value has floats.
 */
export function reachedFrom(y: string, nodes: readonly Node[], isFloat: (name: string) => boolean): Set<string> {
  const reached = new Set([y]);
  for (const node of nodes.toReversed())
    if (node.outputs.some((name) => reached.has(name)))
      namesRead(node).forEach((name, input) => {
        if (name !== "" && !inputsWithout(node).includes(input) && isFloat(name)) reached.add(name);
      });
  return reached;
}
