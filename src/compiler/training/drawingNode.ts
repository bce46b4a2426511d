import type { Body, Node } from "../../model/onnx/model.ts";
import { findRow } from "../table/registry.ts";

/** Finds a number-drawing node in a body or in nested bodies. Evaluated once more, the node may draw other numbers. */
export function drawingNode(body: Body): Node | undefined {
  for (const node of body.nodes) {
    const row = findRow(node);
    if (row !== undefined && "draws" in row && row.draws?.(node) === true) return node;
    for (const attribute of node.attributes.values()) {
      const inner = attribute.kind === "graph" ? drawingNode(attribute.value) : undefined;
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}
