import type { Attribute, Body, Node } from "../../model/onnx/model.ts";
import type { NodeList } from "../nodes.ts";

type Names = ReadonlyMap<string, string>;

/** Renames the values read by a node, also in the node's bodies. */
export const renamed = (node: Node, names: Names): Pick<Node, "inputs" | "attributes"> => ({
  inputs: node.inputs.map((name) => names.get(name) ?? name),
  attributes: new Map(
    [...node.attributes].map(([key, attribute]): [string, Attribute] => [
      key,
      attribute.kind === "graph" ? { ...attribute, value: renamedBody(attribute.value, names) } : attribute,
    ]),
  ),
});

/** Renames the outer values read by a body; the body's own values keep their names. */
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
 * Writes a body's nodes once into the surrounding graph, with new names for all values.
 * @returns the names of the body's outputs
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
