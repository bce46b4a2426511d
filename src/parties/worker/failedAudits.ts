import type { Hex } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import type { JobRecord } from "../../chain/market/history.ts";

/** An element of a step's output in an item. */
export type Sample = { item: number; step: number; element: number };

/**
 * Executions of a job that may fail their self-audit before the job is given up. A passing fault of the machine is
 * survived; a lasting one costs no more work than this.
 */
export const MAX_TRIES = 3;

/** What self-audits found wrong with executions of one job. */
type Failures = { roots: Set<Hex>; samples: Sample[]; isWithheld: boolean };

/**
 * The self-audits of this process that failed. What failed is audited again at the same elements, so that it does not
 * pass because the next samples fall elsewhere. An execution made anew may pass, if the machine's fault is over. A job
 * that fails for good is given up, and with it its program, because the next job of that program would cost the next
 * penalty. A restart, on a mended machine, forgets all of it.
 */
export class FailedAudits {
  readonly #jobs = new Map<Hex, Failures>();
  readonly #programs = new Set<Hex>();

  /** Where earlier executions of a job were wrong. */
  samplesOf({ id }: JobRecord): readonly Sample[] {
    return this.#jobs.get(id)?.samples ?? [];
  }

  /**
   * Adds an execution that failed.
   * @returns Whether the job is given up: the same execution failed before, or too many did.
   */
  add({ id, job }: JobRecord, runRoot: Hex, sample: Sample): boolean {
    const failures = getOrAdd(this.#jobs, id, (): Failures => ({ roots: new Set(), samples: [], isWithheld: false }));
    failures.samples.push(sample);
    failures.isWithheld = failures.roots.has(runRoot) || failures.samples.length >= MAX_TRIES;
    failures.roots.add(runRoot);
    if (failures.isWithheld) this.#programs.add(job.programRoot);
    return failures.isWithheld;
  }

  /** Whether a job is given up. */
  isWithheld({ id }: JobRecord): boolean {
    return this.#jobs.get(id)?.isWithheld ?? false;
  }

  /** Forgets jobs that the history lacks. */
  forget(known: ReadonlyMap<Hex, unknown>): void {
    for (const id of this.#jobs.keys()) if (!known.has(id)) this.#jobs.delete(id);
  }

  /** Whether a job of this program was given up. */
  isDistrusted(programRoot: Hex): boolean {
    return this.#programs.has(programRoot);
  }
}
