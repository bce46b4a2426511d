import type { Attribute, Body, Node } from "./model.ts";

/** The names that a body gives to its own values: they hide the same names of the graphs around it. */
const ownNames = ({ inputs, initializers, nodes }: Body): Set<string> =>
  new Set([...inputs, ...initializers.keys(), ...nodes.flatMap(({ outputs }) => outputs)]);

/** Returns the names that a body reads from the graphs around it. */
function namesAround(body: Body): string[] {
  const own = ownNames(body);
  return [...body.nodes.flatMap(namesRead), ...body.outputs].filter((name) => !own.has(name));
}

/** Returns the names read by a node, first its inputs, then what its bodies read of the surrounding graphs. */
export const namesRead = ({ inputs, attributes }: Node): string[] => [
  ...inputs,
  ...[...attributes.values()].flatMap((attribute) => (attribute.kind === "graph" ? namesAround(attribute.value) : [])),
];

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
  const own = ownNames(body);
  const outer = new Map([...names].filter(([name]) => !own.has(name)));
  return {
    ...body,
    nodes: body.nodes.map((node) => ({ ...node, ...renamed(node, outer) })),
    outputs: body.outputs.map((name) => outer.get(name) ?? name),
  };
}
