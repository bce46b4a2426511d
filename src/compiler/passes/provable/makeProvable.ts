import { CHUNK_BYTES } from "../../../program/merkle/sizes.ts";
import { dtypeBytes } from "../../../numerics/dtype.ts";
import { estimateStepProof, type ProofSize } from "../../../program/gas.ts";
import { MAX_LEVELS } from "../../../program/limits.ts";
import type { Step } from "../../../program/types.ts";
import { isEven } from "./cuts.ts";
import { isEncodable, withStepNumbers, type Parts } from "./parts.ts";
import { copiesOf, relayout, type ReadCopy } from "./relayout.ts";
import { splitsOf } from "./splits.ts";

/** The maximum levels of splitting: each level has about a hundredth of the previous level's terms. */
const MAX_DEPTH = 4;
/** How much more memory an even split may use than one whose blocks must be filled up. */
const UNEVEN_WEIGHT = 1.25;
/** A copy must reduce the proof's cost below this part: if the terms are neighbours already, a copy saves nothing. */
const COPY_COST_RATIO = 0.9;

const bytesOf = ({ count, dtype }: Step): number => count * dtypeBytes(dtype);
/** Returns a proof's cost relative to the limit: at most 1 if both gas and bytes are within the limits. */
function costOf(step: Step, limit: ProofSize): number {
  const { gas, bytes } = estimateStepProof(step);
  return Math.max(gas / limit.gas, bytes / limit.bytes);
}

const isStorable = (step: Step): boolean => bytesOf(step) <= CHUNK_BYTES * 2 ** MAX_LEVELS.tensor;

/** The replacement steps for one step, with final numbers; the bytes of added tensors. */
type Provable = { steps: readonly Step[]; bytes: number };

/**
 * Replaces every step whose proof would take more gas or bytes than `limit` by steps whose proofs fit, if possible.
 * Terms that lie far apart are copied next to each other. Long reductions are split in blocks, and the blocks are
 * joined, in as many levels as needed. No bit changes: float sums are passed on as exact words. Among all ways, the way
 * with the fewest written bytes is taken.
 * @param beforeStep Called before each step with the number of earlier steps; may throw.
 * @returns the steps renumbered, for each old number the new number, and for each new step the old step
 */
export function makeProvable(
  steps: readonly Step[],
  limit: ProofSize,
  beforeStep: (done: number) => void = () => {},
): { steps: Step[]; renumber: number[]; origin: number[] } {
  const result: Step[] = [];
  const renumber: number[] = [];
  const origin: number[] = [];
  steps.forEach((old, s) => {
    beforeStep(s);
    const inputs = old.inputs.map((ref) => (ref.kind === "step" ? { ...ref, index: renumber[ref.index]! } : ref));
    const step = { ...old, inputs };
    const replacement = provable(step, costOf(step, limit), result.length, limit, 0)?.steps ?? [step];
    for (const part of replacement) {
      result.push(part);
      origin.push(s);
    }
    renumber.push(result.length - 1);
  });
  return { steps: result, renumber, origin };
}

/**
 * @param cost The cost of the step's own proof.
 * @param first The number of the first step to make.
 */
function provable(step: Step, cost: number, first: number, limit: ProofSize, depth: number): Provable | undefined {
  if (cost <= 1) return { steps: [step], bytes: 0 };
  if (depth === MAX_DEPTH) return undefined;
  const split = cheapestSplit(step, first, limit, depth);
  const copied = cheapestCopy(step, cost, first, limit, depth);
  if (split === undefined || copied === undefined) return split ?? copied;
  return copied.bytes < split.bytes ? copied : split;
}

/** The split that writes the fewest bytes. */
function cheapestSplit(step: Step, first: number, limit: ProofSize, depth: number): Provable | undefined {
  const candidates = splitsOf(step)
    .map(({ cut, parts }) => ({ parts, weight: blockCount(step, cut) * (isEven(cut, step) ? 1 : UNEVEN_WEIGHT) }))
    .sort((a, b) => a.weight - b.weight);
  for (const { parts } of candidates) {
    const made = provableParts(parts(), first, limit, depth);
    if (made !== undefined) return made;
  }
  return undefined;
}

const blockCount = ({ redDigits }: Step, { digit, blocks }: { digit: number; blocks: number }): number =>
  redDigits.slice(0, digit).reduce((total, radix) => total * radix, blocks);

/**
 * Copies reads: the copy that saves the most comes first, until no copy saves enough. @param whole The step's own cost.
 */
function cheapestCopy(step: Step, whole: number, first: number, limit: ProofSize, depth: number): Provable | undefined {
  const chosen = new Map<number, ReadCopy>();
  let best: Provable | undefined;
  let cost = whole;
  while (cost > 1) {
    let next: { read: number; copy: ReadCopy; cost: number } | undefined;
    for (const read of step.termReads.keys()) {
      for (const copy of chosen.has(read) ? [] : copiesOf(step, read)) {
        const parts = relayout(step, new Map([...chosen, [read, copy]]));
        const own = costOf(withStepNumbers(parts.at(-1)!, [...parts.keys()]), limit);
        const better =
          next === undefined ||
          own < next.cost * COPY_COST_RATIO ||
          (own < next.cost / COPY_COST_RATIO && bytesOf(copy.copy) < bytesOf(next.copy.copy));
        if (own < cost * COPY_COST_RATIO && isStorable(copy.copy) && better) next = { read, copy, cost: own };
      }
    }
    if (next === undefined) break;
    chosen.set(next.read, next.copy);
    cost = next.cost;
    const made = provableParts(relayout(step, chosen), first, limit, depth);
    if (made !== undefined && (best === undefined || made.bytes < best.bytes)) best = made;
  }
  return best;
}

/** The parts with their final numbers, each made provable itself; undefined if one cannot be. */
function provableParts(parts: Parts, first: number, limit: ProofSize, depth: number): Provable | undefined {
  const steps: Step[] = [];
  const numbers: number[] = [];
  let bytes = 0;
  for (const [k, part] of parts.entries()) {
    const step = withStepNumbers(part, numbers);
    if (!isEncodable(step) || !isStorable(step)) return undefined;
    const last = k === parts.length - 1;
    const cost = costOf(step, limit);
    // Blocks that are still too long are not cut again: another split has more blocks.
    if (!last && step.reduce !== 0 && cost > 1) return undefined;
    const made = provable(step, cost, first + steps.length, limit, depth + 1);
    if (made === undefined) return undefined;
    bytes += made.bytes + (last ? 0 : bytesOf(step));
    steps.push(...made.steps);
    numbers.push(first + steps.length - 1);
  }
  return { steps, bytes };
}
