type Entry = { time: number; order: number; run: () => Promise<void> };

/** Planned actions in time order. Actions at the same time run in planning order. */
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
