import type { Node } from "../../model/onnx/model.ts";
import { identityOrder } from "../expressions/tensor.ts";

/** The storage preferred by a value's readers. */
export type Storage = "channelsFirst" | "channelsLast";

/** Dimensions with channels last: [N, C, spatial...] stored as N, spatial..., C. */
export const channelsLast = (rank: number): number[] => [0, ...identityOrder(rank).slice(2), 1];

/**
 * The storage that makes the terms of a convolution neighbours in memory: all channels of a position for a dense
 * convolution, all positions of a channel for a depthwise one. The storage decides how many chunks a step proof opens.
 */
export function convolutionStorage({ attributes }: Node): Storage {
  const group = attributes.get("group");
  return group?.kind === "int" && group.value > 1n ? "channelsFirst" : "channelsLast";
}

/** The storage for poolings: each window covers positions within a single channel. */
export const poolingStorage = (): Storage => "channelsFirst";

/** The order of dimensions for a storage. */
export const storageOrder = (storage: Storage, rank: number): number[] =>
  storage === "channelsLast" ? channelsLast(rank) : identityOrder(rank);
