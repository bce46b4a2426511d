import { isTotal, limbsOf } from "../../../program/reduction.ts";
import { product } from "../../../program/sums.ts";
import type { Step } from "../../../program/types.ts";

/**
 * The way reduction digits become blocks: digits before `digit` number the blocks, and `digit` is cut in `blocks` parts
 * with `length` values each. If the parts exceed the digit's radix, the last block is filled up or, with `front`, the
 * first.
 */
export type Cut = { digit: number; blocks: number; length: number; front: boolean };

/** Block counts that do not divide a digit grow by a tenth from one to the next. */
const GROWTH = 1.1;
/** The minimum number of terms of a block: the next level of splitting must have fewer terms. */
const MIN_BLOCK_LENGTH = 2;

/** The ways to cut a step's reduction into blocks. @param front Whether blocks are filled up at the front. */
export function cutsOf(step: Step, front: boolean): Cut[] {
  const { redDigits } = step;
  const terms = product(redDigits);
  const unit = isTotal(step.reduce) ? limbsOf(step) : 1;
  const cuts = redDigits.flatMap((radix, digit) => {
    const before = product(redDigits.slice(0, digit));
    const lengths = new Set<number>();
    for (const blocks of [...divisors(radix), ...growing(radix)]) {
      // The words of a sum stay together.
      const last = digit === redDigits.length - 1 ? unit : 1;
      lengths.add(Math.min(radix, Math.ceil(radix / blocks / last) * last));
    }
    return [...lengths].map((length) => ({ digit, blocks: Math.ceil(radix / length), length, front, before }));
  });
  return cuts
    .filter(({ before, blocks }) => before * blocks > 1 && before * blocks * MIN_BLOCK_LENGTH * unit <= terms)
    .map(({ digit, blocks, length }) => ({ digit, blocks, length, front }));
}

/** Whether no block has to be filled up. */
export const isEven = ({ digit, blocks, length }: Cut, { redDigits }: Step): boolean =>
  blocks * length === redDigits[digit];

function divisors(radix: number): number[] {
  const low: number[] = [];
  for (let d = 1; d * d <= radix; d++) if (radix % d === 0) low.push(d);
  return [...new Set([...low, ...low.map((d) => radix / d)])];
}

function growing(radix: number): number[] {
  const counts: number[] = [];
  for (let blocks = 2; blocks < radix; blocks = Math.ceil(blocks * GROWTH)) counts.push(blocks);
  return counts;
}
