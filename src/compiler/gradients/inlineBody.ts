import type { Attribute, Body, Node } from "../../model/onnx/model.ts";
import type { NodeList } from "../nodes.ts";

type Names = ReadonlyMap<string, string>;

/** A node with other names of what it reads, also in its bodies. */
export const renamed = (node: Node, names: Names): Pick<Node, "inputs" | "attributes"> => ({
  inputs: node.inputs.map((name) => names.get(name) ?? name),
  attributes: new Map(
    [...node.attributes].map(([key, attribute]): [string, Attribute] => [
      key,
      attribute.kind === "graph" ? { ...attribute, value: renamedBody(attribute.value, names) } : attribute,
    ]),
  ),
});

/** A body with other names of what it reads from outside; its own values keep theirs. */
function renamedBody(body: Body, names: Names): Body {
  const own = new Set([...body.inputs, ...body.initializers.keys(), ...body.nodes.flatMap(({ outputs }) => outputs)]);
  const outer = new Map([...names].filter(([name]) => !own.has(name)));
  return {
    ...body,
    nodes: body.nodes.map((node) => ({ ...node, ...renamed(node, outer) })),
    outputs: body.outputs.map((name) => outer.get(name) ?? name),
  };
}

/**
 * Writes the nodes of a body once, as nodes of the graph around it: all its values have new names.
 * @returns the names of its outputs
 */
export function inlineBody(n: NodeList, body: Body, inputs: readonly string[]): string[] {
  const names = new Map(body.inputs.map((name, k) => [name, inputs[k]!] as const));
  for (const [name, tensor] of body.initializers) if (!names.has(name)) names.set(name, n.constant(tensor));
  for (const node of body.nodes) {
    const own = renamed(node, names);
    const outputs = node.outputs.map((name) => (name === "" ? "" : n.fresh(node.operator)));
    node.outputs.forEach((name, k) => name !== "" && names.set(name, outputs[k]!));
    n.nodes.push({ ...node, ...own, name: outputs.find((name) => name !== "") ?? node.name, outputs });
  }
  return body.outputs.map((name) => names.get(name) ?? name);
}

/** The names that a node reads, also in its bodies, which may read values of the graph around them. */
export const readBy = (node: Node): string[] => [
  ...node.inputs,
  ...[...node.attributes.values()].flatMap((attribute) =>
    attribute.kind === "graph" ? attribute.value.nodes.flatMap(readBy).concat(attribute.value.outputs) : [],
  ),
];
