import type { Hex } from "viem";
import { ExecutionInputError } from "../src/executor/errors.ts";
import type { Meter } from "../src/player/figures.ts";
import { problemOf, type Health, type Problem } from "../src/player/health.ts";

/**
 * Whether a watcher's audits end. A watcher does not judge while its last audit failed, or while there is a claim to be
 * judged whose audit failed: that claim may be wrong, and become final.
 */
export class Judging {
  readonly #health: Health;
  readonly #meter: Meter;
  /** Claims whose audit failed when it was tried last. */
  readonly #failed = new Map<Hex, Problem>();
  #last: Problem | undefined;

  constructor(health: Health, meter: Meter) {
    [this.#health, this.#meter] = [health, meter];
    this.#tell();
  }

  /** Takes note of an audit. @throws what the audit throws */
  async take<T>(claimId: Hex, audit: () => Promise<T>): Promise<T> {
    try {
      const verdict = await audit();
      this.#failed.delete(claimId);
      this.#last = undefined;
      return verdict;
    } catch (error) {
      // Inputs that do not fit are the job's fault, and anybody may post jobs.
      if (!(error instanceof ExecutionInputError)) {
        this.#meter.auditFailed();
        this.#last = problemOf(error, `the audit of claim ${claimId} failed`);
        this.#failed.set(claimId, this.#last);
      }
      throw error;
    } finally {
      this.#tell();
    }
  }

  /** Forgets claims that are not to be judged any more. @param due Those that are. */
  keep(due: ReadonlySet<Hex>): void {
    for (const claimId of this.#failed.keys()) if (!due.has(claimId)) this.#failed.delete(claimId);
    this.#tell();
  }

  #tell(): void {
    const [first] = this.#failed.values();
    this.#health.set("judges", this.#last ?? first);
  }
}
