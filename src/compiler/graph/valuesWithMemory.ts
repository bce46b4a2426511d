import type { Body } from "../../model/onnx/model.ts";
import { namesRead } from "../../model/onnx/names.ts";
import { findRow } from "../table/registry.ts";

/**
 * Returns the values that get memory. A value needs none if all its uses fuse into a single value with memory. A value
 * read as memory, a program output, or a value with two uses is computed once and kept.
 */
export function valuesWithMemory(graph: Body): Set<string> {
  /**
   * For each value, the value with memory that receives all its uses (itself if it has memory); undefined if several.
   */
  const roots = new Map<string, string | undefined>();
  const memory = new Set<string>(graph.outputs);
  const join = (value: string, into: string | undefined): void => {
    roots.set(value, roots.has(value) && roots.get(value) !== into ? undefined : into);
  };
  const root = (value: string): string => {
    const into = roots.get(value);
    if (roots.has(value) && into === undefined) memory.add(value);
    return into === undefined || memory.has(value) ? value : into;
  };
  for (const node of graph.nodes.toReversed()) {
    const use = findRow(node)?.use;
    if (use === "shape") continue;
    const outputs = new Set(node.outputs.filter((name) => name !== "").map(root));
    const [into] = outputs.size === 1 ? outputs : [];
    for (const value of namesRead(node)) {
      if (value === "") continue;
      if (use !== "fuse") memory.add(value);
      if (outputs.size > 0) join(value, into);
    }
  }
  for (const [value, into] of roots) if (into === undefined) memory.add(value);
  return memory;
}
