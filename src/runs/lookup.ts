import { DType, dtypeBytes } from "../numerics/dtype.ts";

/** So many tokens must stand in the text before, for what followed there to be expected again. */
const MATCH = 3;
const BYTES = dtypeBytes(DType.int64);

/**
 * Looks the latest tokens of a text up in the text: what followed at the latest place before is expected to follow.
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
    // The copy may read a byte after its own write.
    for (let at = known * BYTES; at < last; at++) text[at] = text[at - (known - end) * BYTES]!;
    return text;
  }
  return undefined;
}

/** The part of a run's time that blocks of unsure guesses may lose. */
const LOSS = 1 / 4;

/** Decides whether blocks of unsure guesses pay, by the time that items have taken in a run. Milliseconds. */
export class Purse {
  readonly #items: number;
  #singles = { count: 0, time: 0 };
  /** The time of the latest block. */
  #block: number | undefined;
  #lost = 0;

  /** @param items Of the run. */
  constructor(items: number) {
    this.#items = items;
  }

  /** Takes note of an item that was executed by itself. */
  single(time: number): void {
    this.#singles.count++;
    this.#singles.time += time;
  }

  /** Takes note of a block, and of the items in the block that count. */
  block(time: number, items: number): void {
    this.#block = time;
    this.#lost += time - items * this.#mean;
  }

  /**
   * Whether another block may be lost: then all blocks together may lose at most {@link LOSS} of the time that the run
   * takes item by item.
   * @param expected How many items by themselves take as long as a block, before a block was executed.
   */
  allows(expected: number): boolean {
    if (this.#singles.count === 0) return false;
    const block = this.#block ?? expected * this.#mean;
    return this.#lost + block - this.#mean <= LOSS * this.#items * this.#mean;
  }

  get #mean(): number {
    return this.#singles.time / Math.max(1, this.#singles.count);
  }
}
