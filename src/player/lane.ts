/**
 * Work that is done one piece after the other, because each may hold a whole execution. Every round replaces what is
 * due, the most urgent first, so that older work does not delay more urgent work.
 */
export class Lane<T> {
  #due: T[] = [];

  /** Puts what is due now in place of what was. @param due The most urgent first. */
  renew(due: readonly T[]): void {
    this.#due = [...due];
  }

  /** Does what is due until nothing is. @param act Handles its own errors. */
  async run(act: (piece: T) => Promise<void>): Promise<void> {
    for (let next = this.#due.shift(); next !== undefined; next = this.#due.shift()) await act(next);
  }
}
