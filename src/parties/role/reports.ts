import type { Hex } from "viem";
import type { History } from "../../chain/market/history.ts";

/**
 * Reports that are remembered. If there are more, those on jobs, claims and games that the history lacks are forgotten,
 * and then the oldest.
 */
export const MAX_REPORTED = 10_000;

/** What was reported last, by its kind and subject, so that nothing is reported over and over. */
export class Reports {
  readonly #last = new Map<string, { id: string; what: string }>();

  get size(): number {
    return this.#last.size;
  }

  /**
   * Whether a thing differs from what was reported last of the same kind and subject. From then on it counts as
   * reported.
   * @param id The job, claim or game that it is about; empty if it is about the role itself.
   */
  isNew(kind: string, id: string, what = ""): boolean {
    const key = `${kind} ${id}`;
    if (this.#last.get(key)?.what === what) return false;
    // Behind all others: it is the last to be forgotten.
    this.#last.delete(key);
    this.#last.set(key, { id, what });
    return true;
  }

  /** Forgets what there is too much of. */
  forget({ jobs, claims, games }: Pick<History, "jobs" | "claims" | "games">): void {
    if (this.#last.size <= MAX_REPORTED) return;
    const isKnown = (id: Hex): boolean => jobs.has(id) || claims.has(id) || games.has(id);
    const about = [...this.#last].filter(([, { id }]) => id !== "");
    for (const [key, { id }] of about) if (!isKnown(id as Hex)) this.#last.delete(key);
    for (const [key] of about) {
      if (this.#last.size <= MAX_REPORTED) return;
      this.#last.delete(key);
    }
  }
}
