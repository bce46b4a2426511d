/** A single item with this many times the usual time is slow. */
const SLOW = 4;
/** A batch with this many times the usual time perhaps has slow items. */
const LONG = 2;
/** Batches are given up after so many numbers of items were tried in vain, or after a batch of so many items. */
const TRIED = { numbers: 2, items: 4 };
/** How fast measured times follow: the part of a new time. */
const FOLLOW = 1 / 4;
/** By which factor a least time grows at most from one execution to the next: other programs lengthen most times. */
const GROWTH = 1.02;

const leastOf = (least: number | undefined, time: number): number => Math.min(time, (least ?? time) * GROWTH);

/** How long items of a program take alone and in batches, as measured. Milliseconds. */
export class BatchTimes {
  /** By the number of items, the mean and the least time of batches. */
  readonly #batches = new Map<number, { mean: number; least: number }>();
  /** What was executed before: the first time of each prepares the executor. */
  readonly #prepared = new Set<string>();
  #usual: number | undefined;
  #isRefused = false;

  /** The time that an item takes alone; undefined before two items were executed. */
  get usual(): number | undefined {
    return this.#usual;
  }

  /** Whether batches are faster, or were tried with few numbers of items. */
  get mayPay(): boolean {
    const usual = this.#usual;
    if (this.#isRefused) return false;
    if (usual === undefined || this.#fastest(Infinity) > 1) return true;
    return this.#batches.size < TRIED.numbers && Math.max(0, ...this.#batches.keys()) < TRIED.items;
  }

  /** Takes note that the program has no batches. */
  refuse(): void {
    this.#isRefused = true;
  }

  /**
   * Takes note of items of a single request.
   * @returns whether they took much longer than usual
   */
  alone(items: number, time: number): boolean {
    if (this.#isFirst(items === 1 ? "item" : "block")) return false;
    const each = time / items;
    const isSlow = this.#usual !== undefined && each > SLOW * this.#usual;
    if (items === 1) this.#usual = leastOf(this.#usual, each);
    return isSlow;
  }

  /**
   * Takes note of a batch.
   * @returns whether it took much longer than usual
   */
  together(items: number, time: number): boolean {
    if (this.#isFirst("batch")) return false;
    const before = this.#batches.get(items);
    const isLong = time > LONG * (before?.mean ?? items * this.#usual!);
    const mean =
      before === undefined ? time : before.mean + FOLLOW * (Math.min(time, LONG * before.mean) - before.mean);
    this.#batches.set(items, { mean, least: leastOf(before?.least, time) });
    return isLong;
  }

  /** Of so many waiting items, the number to execute together. A number that was never tried is tried. */
  countFor(waiting: number): number {
    if (this.#usual === undefined || this.#isRefused) return 1;
    return this.#batches.has(waiting) ? this.#fastest(waiting) : waiting;
  }

  /** The number of items, up to a number, with the least time for each. */
  #fastest(most: number): number {
    let [best, fastest] = [1, this.#usual!];
    for (const [items, { least }] of this.#batches)
      if (items <= most && least / items < fastest) [best, fastest] = [items, least / items];
    return best;
  }

  #isFirst(kind: string): boolean {
    if (this.#prepared.has(kind)) return false;
    this.#prepared.add(kind);
    return true;
  }
}
