import type { Body, Node } from "../../onnx/model.ts";
import { findEntry } from "../operators/registry.ts";

/** The names that the bodies of a node read or return; some are defined in the bodies themselves. */
function captured(node: Node): string[] {
  return [...node.attributes.values()].flatMap((attribute) =>
    attribute.kind === "graph"
      ? [...attribute.value.outputs, ...attribute.value.nodes.flatMap((inner) => [...inner.inputs, ...captured(inner)])]
      : [],
  );
}

/**
 * The values that get memory. A value needs none if every use of it fuses into one and the same value with memory. A
 * value that is read as memory, is a program output, or has two uses is computed once and kept.
 */
export function valuesWithMemory(graph: Body): Set<string> {
  /** For each value, the values with memory that it goes into; itself if it is one. */
  const roots = new Map<string, Set<string>>();
  const memory = new Set<string>(graph.outputs);
  const root = (value: string): string => {
    const into = roots.get(value) ?? new Set<string>();
    if (!memory.has(value) && into.size === 1) return [...into][0]!;
    if (into.size > 1) memory.add(value);
    return value;
  };
  for (const node of graph.nodes.toReversed()) {
    const use = findEntry(node.operator, node.domain)?.use ?? "memory";
    if (use === "shape") continue;
    for (const value of [...node.inputs, ...captured(node)]) {
      if (value === "") continue;
      if (use === "memory") memory.add(value);
      const into = roots.get(value) ?? new Set<string>();
      for (const output of node.outputs) if (output !== "") into.add(root(output));
      roots.set(value, into);
    }
  }
  for (const [value, into] of roots) if (into.size > 1) memory.add(value);
  return memory;
}
