type Entry = { time: number; order: number; run: () => Promise<void> };

/** Planned actions by time; those of the same time in the order of planning. */
export class Agenda {
  #entries: Entry[] = [];
  #order = 0;

  plan(time: number, run: () => Promise<void>): void {
    const entry = { time, order: this.#order++, run };
    const after = this.#entries.findIndex((other) => other.time > time);
    if (after === -1) this.#entries.push(entry);
    else this.#entries.splice(after, 0, entry);
  }

  /** Takes out the next entry. */
  next(): { time: number; run: () => Promise<void> } | undefined {
    return this.#entries.shift();
  }
}
