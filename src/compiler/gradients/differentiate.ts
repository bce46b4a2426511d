import { isFloat } from "../../numerics/dtype.ts";
import type { Model, Node } from "../../model/onnx/model.ts";
import { UnsupportedOperatorError } from "../errors.ts";
import type { NodeList } from "../graph/nodeList.ts";
import { Backward, type Rule } from "./backward.ts";
import { readBy } from "./inlineBody.ts";
import { COMPOSITIONS, OF_ALL_OUTPUTS, operatorKey, RULES, WITHOUT_GRADIENT } from "./table.ts";
import { whyNoRule } from "./withoutRule.ts";
import type { Values } from "./values.ts";

/** What is differentiated by what, by names in the graph. */
type GradientRequest = {
  /** The Gradient node that asks, for messages. */
  asked: Node;
  y: string;
  xs: readonly string[];
};

/**
 * Reverse-mode differentiation: writes nodes that compute the gradient of the sum of `y` by each of `xs`. A value of
 * `xs` counts as given: nothing before it is differentiated.
 * @param nodes Of the graph up to here, in its order. One that a rule needs a further output of is replaced in place.
 * @param n Takes the nodes that are written.
 * @returns the names of the gradients
 * @throws UnsupportedOperatorError by the node that is not differentiated
 */
export function differentiate(
  { opsets }: Model,
  nodes: Node[],
  { asked, y, xs }: GradientRequest,
  n: NodeList,
  values: Values,
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

/** What is known of the gradients of values: terms, which are added once the total is asked for. */
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
  values: Values;
};

/** Goes over nodes from the last one to the first, and adds the terms of what they read. */
function sweep(of: Sweep, nodes: Node[]): void {
  const { opsets, given, active, terms, n, values } = of;
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at]!;
    const asks = node.outputs.some((name) => terms.has(name) && !given.has(name));
    if (!asks || !readBy(node).some((name) => active.has(name))) continue;
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

/** Differentiates the nodes that a rule writes in place of one: they are evaluated beside it. */
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
function activeValues(nodes: readonly Node[], given: ReadonlySet<string>, values: Values): Set<string> {
  const active = new Set(given);
  for (const node of nodes)
    if (readBy(node).some((name) => active.has(name)))
      for (const name of node.outputs) {
        // What has no type is a sequence; the node that gives it is refused if it matters.
        const dtype = name === "" ? undefined : values.of(name)?.dtype;
        if (name !== "" && (dtype === undefined || isFloat(dtype))) active.add(name);
      }
  return active;
}

/** The rule of a node, and whether it is a composition. */
function ruleOf(
  node: Node,
  gradients: readonly (string | undefined)[],
  active: ReadonlySet<string>,
): [rule: Rule, composed: boolean] {
  const refuse = (why: string): never => {
    throw new UnsupportedOperatorError(node, undefined, `Gradient: ${why}`);
  };
  const key = operatorKey(node);
  const without = WITHOUT_GRADIENT[key]?.find((input) => active.has(node.inputs[input] ?? ""));
  if (without !== undefined) return refuse(`its input ${without} has no gradient rule`);
  const composition = COMPOSITIONS[key];
  if (composition !== undefined) return [composition, true];
  const rule = RULES[key];
  if (rule === undefined) return refuse(whyNoRule(node));
  const further = gradients.findIndex((gradient, k) => k > 0 && gradient !== undefined);
  if (further > 0 && !OF_ALL_OUTPUTS.has(key)) return refuse(`its output ${further} has no gradient rule`);
  return [rule, false];
}

/**
 * The values on which another one depends by floats and through inputs that have a gradient.
 * @param isFloat Whether a value is of floats.
 */
export function reachedFrom(y: string, nodes: readonly Node[], isFloat: (name: string) => boolean): Set<string> {
  const reached = new Set([y]);
  for (const node of nodes.toReversed())
    if (node.outputs.some((name) => reached.has(name)))
      readBy(node).forEach((name, input) => {
        if (name !== "" && WITHOUT_GRADIENT[operatorKey(node)]?.includes(input) !== true && isFloat(name))
          reached.add(name);
      });
  return reached;
}
