import type { Hex } from "viem";
import type { History } from "../../chain/market/history.ts";

/**
 * Maximum number of remembered reports. Beyond the maximum, reports on jobs, claims and games missing from the history
 * are forgotten first, then the oldest.
 */
export const MAX_REPORTED = 10_000;

/** The latest report for each kind and subject: a repeated report is suppressed. */
export class Reports {
  readonly #last = new Map<string, { id: string; what: string }>();

  get size(): number {
    return this.#last.size;
  }

  /**
   * Returns true if a report differs from the latest report with the same kind and subject. The report then counts as
   * reported.
   * @param id The job, claim or game of the report; empty for reports about the role itself.
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
