import type { GraphNode } from "./messages.ts";

/** How a node is drawn: its own lane, the lanes of values that it reads, and those that pass it by. */
export type Rail = { lane: number; reads: readonly number[]; passing: readonly number[] };

/** Lanes that are followed; values beyond them have none. */
const MAX_LANES = 32;

/**
 * Lanes for a graph that is drawn as a list: a value has a lane from the node that makes it to the last that reads it,
 * and lanes that have become free are used again.
 */
export function railsOf(graph: readonly Pick<GraphNode, "reads">[]): Rail[] {
  const lastReader = new Map<number, number>();
  graph.forEach(({ reads }, k) => reads.forEach((maker) => lastReader.set(maker, k)));
  const lanes: (number | undefined)[] = [];
  const laneOf = new Map<number, number>();
  return graph.map(({ reads }, k) => {
    const read = reads.flatMap((maker) => laneOf.get(maker) ?? []);
    lanes.forEach((maker, lane) => {
      if (maker !== undefined && lastReader.get(maker) === k) lanes[lane] = undefined;
    });
    const free = lanes.findIndex((maker) => maker === undefined);
    const lane = free === -1 ? lanes.length : free;
    const passing = lanes.flatMap((maker, at) => (maker === undefined ? [] : [at]));
    if (lane >= MAX_LANES) return { lane: MAX_LANES, reads: read, passing };
    if (lastReader.has(k)) {
      lanes[lane] = k;
      laneOf.set(k, lane);
    } else if (lane === lanes.length) lanes.push(undefined);
    return { lane, reads: read, passing };
  });
}

/** The lanes that are drawn side by side. */
export const widthOf = (rails: readonly Rail[]): number =>
  rails.reduce((max, { lane, reads, passing }) => Math.max(max, lane, reads.at(-1) ?? 0, passing.at(-1) ?? 0), 0) + 1;
