import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Built } from "./build.ts";

/** The results of a search for powers close to midpoints. */
type PowerReport = {
  /** Pairs that were looked at. */
  tried: number;
  /** The smallest relative distance of a power from a midpoint, exact midpoints excluded. */
  closest: number;
  /** The words of that pair. */
  x: number;
  y: number;
  /** Powers that are midpoints, exactly. */
  midpoints: number;
  /** Powers that the definition wrongly takes for midpoints. */
  taken: number;
};

/** The searches of powers.c: results next to 1, and exponents of few bits. */
export const SEARCHES = ["near", "few"] as const;

const merged = (a: PowerReport, b: PowerReport): PowerReport => ({
  ...(b.closest < a.closest ? b : a),
  tried: a.tried + b.tried,
  midpoints: a.midpoints + b.midpoints,
  taken: a.taken + b.taken,
});

/**
 * Searches for the power closest to a midpoint between two float32.
 * @param stride A base in `stride` bases is tried. An odd stride varies all bits.
 */
export async function searchPowers(
  { program }: Built,
  search: (typeof SEARCHES)[number],
  stride: number,
  jobs: number,
): Promise<PowerReport> {
  const parts = Array.from({ length: jobs }, async (_, part) => {
    const args = [search, stride, jobs, part].map(String);
    return JSON.parse((await promisify(execFile)(program, args)).stdout) as PowerReport;
  });
  return (await Promise.all(parts)).reduce(merged);
}
