import { isFloat } from "../../numerics/dtype.ts";
import type { Attribute, Model, Node } from "../../onnx/model.ts";
import { UnsupportedOperatorError } from "../errors.ts";
import type { Nodes } from "../wrapping/nodes.ts";
import { Backward } from "./backward.ts";
import { NOT_DIFFERENTIABLE, RULES, WITHOUT_GRADIENT } from "./table.ts";
import type { Values } from "./values.ts";

/** What is differentiated by what, by names in the graph. */
export type Question = {
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
export function differentiate({ opsets }: Model, nodes: Node[], { asked, y, xs }: Question, n: Nodes, values: Values) {
  const given = new Set(xs);
  const active = activeValues(nodes, given, values);
  if (!active.has(y))
    throw new UnsupportedOperatorError(asked, undefined, `"${y}" does not depend on ${xs.join(", ")} by floats`);
  const terms = new Map<string, string[]>();
  const { dtype, shape } = values.of(y)!;
  const one = n.scalar(dtype, 1);
  terms.set(y, [shape.length === 0 ? one : n.node("Expand", [one, n.integers(...shape)])]);
  const gradientOf = (name: string): string | undefined => {
    const all = terms.get(name);
    if (all === undefined) return undefined;
    const total = all.length === 1 ? all[0]! : all.reduce((sum, term) => n.node("Add", [sum, term]));
    terms.set(name, [total]);
    return total;
  };
  for (let at = nodes.length - 1; at >= 0; at--) {
    const node = nodes[at]!;
    const asks = node.outputs.some((name) => terms.has(name) && !given.has(name));
    if (!asks || !node.inputs.some((name) => active.has(name))) continue;
    const gradients = node.outputs.map((name) => (given.has(name) ? undefined : gradientOf(name)));
    const rule = ruleOf(node, gradients, active);
    const opset = (node.opsets ?? opsets).get(node.domain) ?? 0;
    const output = (index: number): string => {
      const outputs = [...nodes[at]!.outputs];
      while (outputs.length < index) outputs.push("");
      outputs[index] ||= n.fresh(node.operator);
      nodes[at] = { ...nodes[at]!, outputs };
      return outputs[index];
    };
    const results = rule(new Backward({ node, opset, gradients, active, output }, n, values));
    node.inputs.forEach((name, input) => {
      const own = results[input];
      if (active.has(name) && own !== undefined) terms.set(name, [...(terms.get(name) ?? []), own]);
    });
  }
  return xs.map((name) => {
    const gradient = gradientOf(name);
    if (gradient !== undefined) return gradient;
    throw new UnsupportedOperatorError(asked, undefined, `"${y}" does not depend on "${name}" by floats`);
  });
}

/** The values that depend on others by floats only. */
function activeValues(nodes: readonly Node[], given: ReadonlySet<string>, values: Values): Set<string> {
  const active = new Set(given);
  for (const node of nodes)
    if (readsAny(node, active))
      for (const name of node.outputs) {
        // What has no type is a sequence; the node that gives it is refused if it matters.
        const dtype = name === "" ? undefined : values.of(name)?.dtype;
        if (name !== "" && (dtype === undefined || isFloat(dtype))) active.add(name);
      }
  return active;
}

const bodiesOf = ({ attributes }: Node) =>
  [...attributes.values()].filter(
    (attribute): attribute is Attribute & { kind: "graph" } => attribute.kind === "graph",
  );

const readsAny = (node: Node, names: ReadonlySet<string>): boolean =>
  node.inputs.some((name) => names.has(name)) ||
  bodiesOf(node).some(({ value }) => value.nodes.some((inner) => readsAny(inner, names)));

function ruleOf(node: Node, gradients: readonly (string | undefined)[], active: ReadonlySet<string>) {
  const refuse = (why: string): never => {
    throw new UnsupportedOperatorError(node, undefined, `Gradient: ${why}`);
  };
  const rule = node.domain === "" ? RULES[node.operator] : undefined;
  if (rule === undefined) {
    const why = node.domain === "" ? NOT_DIFFERENTIABLE[node.operator] : undefined;
    return refuse(why === undefined ? "the operator has no gradient rule" : `it is not differentiable: ${why}`);
  }
  const further = gradients.findIndex((gradient, k) => k > 0 && gradient !== undefined);
  if (further > 0 && node.operator !== "Split") return refuse(`its output ${further} has no gradient rule`);
  const without = WITHOUT_GRADIENT[node.operator]?.find((input) => active.has(node.inputs[input] ?? ""));
  if (without !== undefined) return refuse(`its input ${without} has no gradient rule`);
  return rule;
}

/**
 * The values on which another one depends by floats and through inputs that have a gradient.
 * @param isFloat Whether a value is of floats.
 */
export function reachedFrom(y: string, nodes: readonly Node[], isFloat: (name: string) => boolean): Set<string> {
  const reached = new Set([y]);
  for (const node of nodes.toReversed())
    if (node.outputs.some((name) => reached.has(name)))
      node.inputs.forEach((name, input) => {
        if (name !== "" && WITHOUT_GRADIENT[node.operator]?.includes(input) !== true && isFloat(name))
          reached.add(name);
      });
  return reached;
}
