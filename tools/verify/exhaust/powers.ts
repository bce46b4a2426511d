import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Built } from "./build.ts";

/** What a search for powers close to midpoints found. */
type PowerReport = {
  /** Pairs that were looked at. */
  tried: number;
  /** How close a power comes to a midpoint that it is not, relative to it. */
  closest: number;
  /** The words of that pair. */
  x: number;
  y: number;
  /** Powers that are midpoints, exactly. */
  midpoints: number;
  /** Powers that the definition takes for midpoints, and that are none. */
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
 * Searches for the power closest to a midpoint of two float32.
 * @param stride One base in `stride` bases is tried. An odd stride varies all bits.
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
