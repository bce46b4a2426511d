import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Checkpoint, Step } from "../../program/types.ts";

/**
 * The maximum number of steps of a range. A list of 16 roots is one move of a game. Up to 256 roots cost a dispute two
 * more moves, and a segment four times as long is executed again for it.
 */
const SHORT_RANGE = 16;
export const LONG_RANGE = 64;
/**
 * Long ranges are chosen if they save at least these bytes of hashing, some two milliseconds: every job pays for
 * hashing, few jobs for a dispute.
 */
const MIN_SAVED_BYTES = 3 * 2 ** 19;
/** The cost of a cut besides hashing its tensors, in bytes hashed: a cut of small tensors is not free. */
const CUT_COST = 4096;

/** For each t, the steps up to t that are read after t. */
function liveSets(steps: readonly Step[]): number[][] {
  const lastRead = steps.map((_, s) => s);
  steps.forEach((step, s) => step.inputs.forEach((ref) => ref.kind === "step" && (lastRead[ref.index] = s)));
  return steps.map((_, t) => lastRead.flatMap((last, s) => (s <= t && last > t ? [s] : [])));
}

const bytesOf = ({ count, dtype }: Step): number => count * dtypeBytes(dtype);

/**
 * The steps after which to cut so that no range is longer than `longest` steps and as few bytes as possible are hashed.
 * @param live For each step, the tensors that are live after it.
 */
function chooseCuts(steps: readonly Step[], live: readonly number[][], longest: number): number[] {
  const cutCost = live.map((set) => set.reduce((sum, s) => sum + bytesOf(steps[s]!), CUT_COST));
  // best[t]: the minimum cost of the cuts up to and after step t; a cut after the last step is free.
  const best: number[] = [];
  const previous: number[] = [];
  for (let t = 0; t < steps.length; t++) {
    best[t] = Infinity;
    for (let p = t - 1; p >= t - longest && p >= -1; p--) {
      const cost = (p < 0 ? 0 : best[p]!) + (t === steps.length - 1 ? 0 : cutCost[t]!);
      if (cost < best[t]!) [best[t], previous[t]] = [cost, p];
    }
  }
  const cuts: number[] = [];
  for (let t = previous[steps.length - 1]!; t >= 0; t = previous[t]!) cuts.unshift(t);
  return cuts;
}

/**
 * Chooses checkpoints: every tensor that is live across a cut, and every output. The range of a checkpoint begins after
 * the cut before it and has at most LONG_RANGE steps.
 * @param outputs The steps that are outputs of the program; the last step is one.
 */
export function chooseCheckpoints(steps: readonly Step[], outputs: readonly number[]): Checkpoint[] {
  const live = liveSets(steps);
  const choose = (longest: number): { cuts: readonly number[]; chosen: readonly number[]; bytes: number } => {
    const cuts = chooseCuts(steps, live, longest);
    const chosen = [...new Set([...outputs, ...cuts.flatMap((cut) => live[cut]!)])].sort((a, b) => a - b);
    return { cuts, chosen, bytes: chosen.reduce((sum, s) => sum + bytesOf(steps[s]!), 0) };
  };
  const [short, long] = [choose(SHORT_RANGE), choose(LONG_RANGE)];
  const { cuts, chosen } = short.bytes - long.bytes >= MIN_SAVED_BYTES ? long : short;
  return chosen.map((step) => ({ first: (cuts.findLast((cut) => cut < step) ?? -1) + 1, step }));
}
