import type { Hex } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import type { JobRecord } from "../../chain/market/history.ts";

/** An element of a step's output in an item. */
export type Sample = { item: number; step: number; element: number };

/**
 * Maximum number of executions per job that may fail the self-audit before the worker gives the job up. A passing
 * machine fault is survived; a lasting fault costs at most these executions.
 */
export const MAX_TRIES = 3;

/** The errors found by self-audits in a job's executions. */
type Failures = { roots: Set<Hex>; samples: Sample[]; isWithheld: boolean };

/**
 * The failed self-audits of the process. A failed element is audited again: new samples elsewhere do not hide the
 * failure. A new execution may pass, if the machine's fault is over. A job that fails permanently is given up together
 * with the program, because the program's next job would cost the next penalty. A restart, on a repaired machine,
 * forgets all failures.
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

  /** Returns true if a job of the program was given up. */
  isDistrusted(programRoot: Hex): boolean {
    return this.#programs.has(programRoot);
  }
}
