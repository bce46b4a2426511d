import type { Program } from "./types.ts";

/** Returns all steps in the segments of some steps: a dispute that enters a segment asks for these. */
export function segmentsOf({ checkpoints }: Program, steps: readonly number[]): Set<number> {
  const wanted = new Set(steps);
  for (const { first, step: last } of checkpoints) {
    if (!steps.some((step) => step >= first && step <= last)) continue;
    for (let step = first; step <= last; step++) wanted.add(step);
  }
  return wanted;
}
