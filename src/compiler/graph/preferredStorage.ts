import type { Body } from "../../model/onnx/model.ts";
import type { Storage } from "../steps/storage.ts";
import { findRow } from "../table/registry.ts";

/** Returns the preferred storage of values read as memory. If nodes differ, the dense convolution decides. */
export function preferredStorage(graph: Pick<Body, "nodes">): Map<string, Storage> {
  const preferences = new Map<string, Storage>();
  for (const node of graph.nodes) {
    const [data] = node.inputs;
    const row = findRow(node);
    const wanted = row !== undefined && "storage" in row ? row.storage?.(node) : undefined;
    if (data === undefined || wanted === undefined || preferences.get(data) === "channelsLast") continue;
    preferences.set(data, wanted);
  }
  return preferences;
}
