import { dtypeBytes } from "../../numerics/dtype.ts";
import type { Checkpoint, Step } from "../../program/types.ts";

/**
 * The maximum number of steps in a range. A list with 16 roots takes a single move in a game. Up to 256 roots cost a
 * dispute two more moves, and the dispute executes a segment four times as long again.
 */
const SHORT_RANGE = 16;
export const LONG_RANGE = 64;
/**
 * Long ranges are chosen if they save at least these bytes of hashing, some two milliseconds: every job pays for
 * hashing, few jobs for a dispute.
 */
const MIN_SAVED_BYTES = 3 * 2 ** 19;
/** The cost of a cut besides hashing the cut's tensors, in bytes hashed: a cut with small tensors also costs time. */
const CUT_COST = 4096;

/** Returns, for each step, the last step that reads the step's tensor; the step's own number if no step does. */
function lastReads(steps: readonly Step[]): number[] {
  const last = steps.map((_, s) => s);
  steps.forEach((step, s) => step.inputs.forEach((ref) => ref.kind === "step" && (last[ref.index] = s)));
  return last;
}

const bytesOf = ({ count, dtype }: Step): number => count * dtypeBytes(dtype);

/**
 * Returns, for each step, the cost of a cut after the step: the bytes of all tensors made up to the step and read
 * later.
 */
function cutCosts(steps: readonly Step[], lastRead: readonly number[]): number[] {
  // A tensor is live after each step from the tensor's own step to the step before the last reader.
  const change = steps.map(() => 0);
  steps.forEach((step, s) => {
    if (lastRead[s] === s) return;
    change[s]! += bytesOf(step);
    change[lastRead[s]!]! -= bytesOf(step);
  });
  let live = CUT_COST;
  return change.map((bytes) => (live += bytes));
}

/**
 * Chooses the steps after which to cut: no range may exceed `longest` steps, and the hashed bytes are minimal.
 * @param cutCost For each step, the cost of a cut after the step.
 */
function chooseCuts(steps: readonly Step[], cutCost: readonly number[], longest: number): number[] {
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
  for (let t = previous[steps.length - 1]!; t >= 0; t = previous[t]!) cuts.push(t);
  return cuts.reverse();
}

/**
 * Chooses checkpoints: every tensor live across a cut, and every output. A checkpoint's range begins after the previous
 * cut and has at most LONG_RANGE steps.
 * @param outputs The steps that are program outputs, including the last step.
 */
export function chooseCheckpoints(steps: readonly Step[], outputs: readonly number[]): Checkpoint[] {
  const lastRead = lastReads(steps);
  const cutCost = cutCosts(steps, lastRead);
  const isOutput = new Set(outputs);
  const choose = (longest: number): { checkpoints: Checkpoint[]; bytes: number } => {
    const cuts = chooseCuts(steps, cutCost, longest);
    const checkpoints: Checkpoint[] = [];
    let bytes = 0;
    let next = 0;
    steps.forEach((own, step) => {
      while (next < cuts.length && cuts[next]! < step) next++;
      // The next cut comes at the step or later: the tensor is live at the cut if a later step reads the tensor.
      const crosses = next < cuts.length && cuts[next]! < lastRead[step]!;
      if (!crosses && !isOutput.has(step)) return;
      checkpoints.push({ first: next === 0 ? 0 : cuts[next - 1]! + 1, step });
      bytes += bytesOf(own);
    });
    return { checkpoints, bytes };
  };
  const [short, long] = [choose(SHORT_RANGE), choose(LONG_RANGE)];
  return short.bytes - long.bytes >= MIN_SAVED_BYTES ? long.checkpoints : short.checkpoints;
}
