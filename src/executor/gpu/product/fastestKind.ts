import type { ResidueKind } from "./moduli.ts";

/** Rows, columns and terms of the square products that are timed. */
const [FIRST, LAST] = [128, 2_048];
/** Below, the start of an execution takes most of the time. */
const LONG_MS = 20;
/** The fastest of so many executions counts. */
const TIMES = 3;

/**
 * Returns the kind of products that this GPU computes fastest, by measuring: names and facts of GPUs do not say.
 * Products are doubled in size until an execution is long enough. The bits are the same for each kind.
 * @param kinds The kinds that the GPU's shaders can compute.
 * @param timed Executes a square product of a size by a kind, so many times. Returns the milliseconds of each time.
 */
export async function fastestKind(
  kinds: readonly ResidueKind[],
  timed: (kind: ResidueKind, size: number, times: number) => Promise<readonly number[]>,
): Promise<ResidueKind> {
  if (kinds.length === 1) return kinds[0]!;
  for (let size = FIRST; ; size *= 2) {
    const took = new Map<ResidueKind, number>();
    for (const kind of kinds) took.set(kind, Math.min(...(await timed(kind, size, TIMES))));
    if (Math.max(...took.values()) < LONG_MS && size < LAST) continue;
    return [...took].reduce((best, one) => (one[1] < best[1] ? one : best))[0];
  }
}
