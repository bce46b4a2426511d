import type { Body, Node } from "../../model/onnx/model.ts";
import { identityOrder } from "../expressions/tensor.ts";

/** How the nodes that read a value prefer it stored. */
type Storage = "channelsFirst" | "channelsLast";

/** Dimensions with channels last: [N, C, spatial...] stored as N, spatial..., C. */
export const channelsLast = (rank: number): number[] => [0, ...identityOrder(rank).slice(2), 1];

/**
 * The storage that makes the terms of a reduction neighbours in memory: all channels of a position for a dense
 * convolution, all positions of a channel for pooling and depthwise convolution. It decides how many chunks a step
 * proof opens.
 */
function preference(node: Node): Storage | undefined {
  switch (node.operator) {
    case "Conv":
    case "ConvInteger":
    case "QLinearConv":
    case "ConvTranspose": {
      const group = node.attributes.get("group");
      return group?.kind === "int" && group.value > 1n ? "channelsFirst" : "channelsLast";
    }
    case "GlobalAveragePool":
    case "GlobalMaxPool":
    case "AveragePool":
    case "MaxPool":
      return "channelsFirst";
    default:
      return undefined;
  }
}

/** The storage of the values that some node reads as memory. If nodes differ, the dense convolution decides. */
export function preferredStorage(graph: Pick<Body, "nodes">): Map<string, Storage> {
  const preferences = new Map<string, Storage>();
  for (const node of graph.nodes) {
    const [data] = node.inputs;
    const wanted = preference(node);
    if (data === undefined || wanted === undefined || preferences.get(data) === "channelsLast") continue;
    preferences.set(data, wanted);
  }
  return preferences;
}

/** The order of dimensions for a storage. */
export const storageOrder = (storage: Storage, rank: number): number[] =>
  storage === "channelsLast" ? channelsLast(rank) : identityOrder(rank);
