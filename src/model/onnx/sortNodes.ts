import type { Node } from "./model.ts";
import { namesRead } from "./names.ts";

/**
 * Sorts nodes to place each node after the nodes it reads. ONNX demands this order, but some tools break the order
 * (converters append their casts). A sorted list stays unchanged. In a cycle, some reader precedes the node read.
 */
export function sortNodes(nodes: readonly Node[]): Node[] {
  const producers = new Map(nodes.toReversed().flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const sorted: Node[] = [];
  const begun = new Set<Node>();
  const done = new Set<Node>();
  for (const root of nodes) {
    const stack = [root];
    for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
      if (begun.has(node)) {
        stack.pop();
        if (!done.has(node)) sorted.push(node);
        done.add(node);
        continue;
      }
      begun.add(node);
      for (const name of namesRead(node).toReversed()) {
        const producer = name === "" ? undefined : producers.get(name);
        if (producer !== undefined && !begun.has(producer)) stack.push(producer);
      }
    }
  }
  return sorted;
}
