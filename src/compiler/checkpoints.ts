import { dtypeBytes } from "../numerics/dtype.ts";
import type { Checkpoint, Step } from "../program/types.ts";

/** The longest range that a checkpoint's interior tree should cover: a list of 16 roots is one move of a game. */
export const MAX_RANGE = 16;
/** What a cut costs beside hashing its tensors, in bytes hashed: it keeps a cut from being made for nothing. */
const CUT_COST = 4096;

/** For each t, the steps up to t that are read after t. */
function liveSets(steps: readonly Step[]): number[][] {
  const lastRead = steps.map((_, s) => s);
  steps.forEach((step, s) => step.inputs.forEach((ref) => ref.kind === "step" && (lastRead[ref.index] = s)));
  return steps.map((_, t) => lastRead.flatMap((last, s) => (s <= t && last > t ? [s] : [])));
}

/**
 * Chooses cuts so that no range is longer than MAX_RANGE steps and as few bytes as possible are hashed. Every tensor
 * that is live across a cut is a checkpoint, and so is every output; the range of a checkpoint begins after the cut before it.
 * @param outputs The steps that are outputs of the program; the last step is one.
 */
export function chooseCheckpoints(steps: readonly Step[], outputs: readonly number[]): Checkpoint[] {
  const live = liveSets(steps);
  const bytes = (s: number): number => steps[s]!.count * dtypeBytes(steps[s]!.dtype);
  const cutCost = live.map((set) => set.reduce((sum, s) => sum + bytes(s), CUT_COST));
  // best[t]: the least cost of cutting after step t and before; a cut after the last step is free.
  const best: number[] = [];
  const previous: number[] = [];
  for (let t = 0; t < steps.length; t++) {
    best[t] = Infinity;
    for (let p = t - 1; p >= t - MAX_RANGE && p >= -1; p--) {
      const cost = (p < 0 ? 0 : best[p]!) + (t === steps.length - 1 ? 0 : cutCost[t]!);
      if (cost < best[t]!) [best[t], previous[t]] = [cost, p];
    }
  }
  const cuts: number[] = [];
  for (let t = previous[steps.length - 1]!; t >= 0; t = previous[t]!) cuts.unshift(t);

  const chosen = new Set([...outputs, ...cuts.flatMap((cut) => live[cut]!)]);
  return [...chosen]
    .sort((a, b) => a - b)
    .map((step) => ({ first: (cuts.findLast((cut) => cut < step) ?? -1) + 1, step }));
}
