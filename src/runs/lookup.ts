import { DType, dtypeBytes } from "../numerics/dtype.ts";

/** The number of latest tokens to find at an earlier place in the text. */
const MATCH = 3;
const BYTES = dtypeBytes(DType.int64);

/**
 * Looks a text's latest tokens up in the text: the tokens behind the latest earlier place are expected to follow.
 * @param tokens The text's places, int64 each.
 * @param known How many places are written.
 * @param more How many tokens to expect at most. They may go on behind the latest tokens, in a circle.
 * @returns the places with the expected tokens; undefined if the latest tokens stand nowhere before
 */
export function lookUp(tokens: Uint8Array, known: number, more: number): Uint8Array | undefined {
  const text = Uint8Array.from(tokens);
  const latest = text.slice(Math.max(0, known - MATCH) * BYTES, known * BYTES);
  for (let end = known - 1; end >= MATCH; end--) {
    if (Buffer.compare(text.subarray((end - MATCH) * BYTES, end * BYTES), latest) !== 0) continue;
    const last = Math.min(text.length, (known + more) * BYTES);
    // The loop may read bytes written by the loop before.
    for (let at = known * BYTES; at < last; at++) text[at] = text[at - (known - end) * BYTES]!;
    return text;
  }
  return undefined;
}

/** The largest part of a run's time lost to blocks with unsure guesses. */
const LOSS = 1 / 16;
/** The time of a run's first unsure block, in single items for each item: measured shares are 0.5 to 0.7. */
const FIRST = 0.6;

/** Items of a block, and milliseconds. */
type Block = { items: number; time: number };

/** Decides whether blocks with unsure guesses pay, by the times measured in a run. Milliseconds. */
export class Purse {
  readonly #items: number;
  #singles = { count: 0, time: 0 };
  /** The latest block, and the latest block of another length. */
  #block: Block | undefined;
  #other: Block | undefined;
  #lost = 0;

  /** @param items Of the run. */
  constructor(items: number) {
    this.#items = items;
  }

  /** Takes note that an item was executed alone. */
  single(time: number): void {
    this.#singles.count++;
    this.#singles.time += time;
  }

  /** Takes note that a block of items was executed, with so many right items. */
  block(time: number, items: number, right: number): void {
    if (this.#block?.items !== items) this.#other = this.#block;
    this.#block = { time, items };
    this.#lost += time - right * this.#mean;
  }

  /**
   * Whether a block of so many items may be lost: then all blocks together may lose at most {@link LOSS} times the
   * run's time item by item. The first item of a block is always right.
   */
  allows(items: number): boolean {
    if (this.#singles.count === 0) return false;
    return this.#lost + this.#expected(items) - this.#mean <= LOSS * this.#items * this.#mean;
  }

  /** The expected time of a block, on the line through two known blocks, or in proportion to one. */
  #expected(items: number): number {
    const { time, items: before } = this.#block ?? { time: FIRST * items * this.#mean, items };
    const each = time / before;
    const { time: otherTime, items: other } = this.#other ?? { time: 0, items: 0 };
    const slope = Math.min(each, Math.max(0, (time - otherTime) / (before - other)));
    return time + Math.max(0, items - before) * slope;
  }

  get #mean(): number {
    return this.#singles.time / Math.max(1, this.#singles.count);
  }
}
