import type { Node } from "./model.ts";

/** Returns an operator's name for messages, with its domain unless the domain is ai.onnx. */
const operatorName = ({ operator, domain }: Pick<Node, "operator" | "domain">): string =>
  domain === "" ? operator : `${domain}.${operator}`;

/** How often each operator occurs in a graph and in the bodies of its nodes. */
export function operatorCounts(graph: { nodes: readonly Node[] }): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      const name = operatorName(node);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      for (const attribute of node.attributes.values()) if (attribute.kind === "graph") count(attribute.value.nodes);
    }
  };
  count(graph.nodes);
  return counts;
}
