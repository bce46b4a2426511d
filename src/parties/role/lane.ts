/**
 * A queue that runs work one piece after the other, because each piece may hold a whole execution. Every round replaces
 * the due pieces, with the most urgent first: older work never delays more urgent work.
 */
export class Lane<T> {
  #due: T[] = [];
  readonly #running = new Set<unknown>();

  /** Replaces the due pieces. @param due The most urgent first. */
  renew(due: readonly T[]): void {
    this.#due = [...due];
  }

  /**
   * Runs due pieces until none remains. A second call before the end runs two pieces at a time.
   * @param act Handles all errors of a piece.
   * @param keyOf Pieces with the same key never run at the same time; later pieces are skipped.
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
