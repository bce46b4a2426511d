/**
 * Work that is done one piece after the other, because each may hold a whole execution. Every round replaces what is
 * due, the most urgent first, so that older work does not delay more urgent work.
 */
export class Lane<T> {
  #due: T[] = [];
  readonly #running = new Set<unknown>();

  /** Puts what is due now in place of what was. @param due The most urgent first. */
  renew(due: readonly T[]): void {
    this.#due = [...due];
  }

  /**
   * Does what is due until nothing is. Called again before it ends, it does two pieces at a time.
   * @param act Handles its own errors.
   * @param keyOf Of pieces with the same key one is done at a time; the others are left out.
   */
  async run(act: (piece: T) => Promise<void>, keyOf: (piece: T) => unknown = (piece) => piece): Promise<void> {
    for (let next = this.#due.shift(); next !== undefined; next = this.#due.shift()) {
      const key = keyOf(next);
      if (this.#running.has(key)) continue;
      this.#running.add(key);
      await act(next).finally(() => this.#running.delete(key));
    }
  }
}
