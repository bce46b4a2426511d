import type { Hex } from "viem";
import type { JobRecord } from "../market/history.ts";

/** An element of a step's output. */
export type Sample = { step: number; element: number };

/** Executions of a job that may fail their self-audit: a passing fault of the machine is survived, a lasting one costs no more work than this. */
export const MOST_TRIES = 3;

/** What self-audits found wrong with executions of one job. */
type Doubt = { roots: Set<Hex>; samples: Sample[]; isWithheld: boolean };

/**
 * What this process's self-audits found. What failed is audited again where it failed, so that it does not pass because the next samples fall elsewhere; an
 * execution made anew may pass, if the fault was the machine's and is over. A job that fails for good is given up, and with it its program, because the next
 * job on that would cost the next penalty. A restart, on a mended machine, forgets all of it.
 */
export class Doubts {
  readonly #jobs = new Map<Hex, Doubt>();
  readonly #programs = new Set<Hex>();

  /** Where earlier executions of a job were wrong. */
  samplesOf({ id }: JobRecord): readonly Sample[] {
    return this.#jobs.get(id)?.samples ?? [];
  }

  /** Notes that an execution failed. @returns Whether the job is given up: the same execution failed before, or too many did. */
  note({ id, job }: JobRecord, traceRoot: Hex, sample: Sample): boolean {
    const doubt = this.#jobs.get(id) ?? { roots: new Set(), samples: [], isWithheld: false };
    this.#jobs.set(id, doubt);
    doubt.samples.push(sample);
    doubt.isWithheld = doubt.roots.has(traceRoot) || doubt.samples.length >= MOST_TRIES;
    doubt.roots.add(traceRoot);
    if (doubt.isWithheld) this.#programs.add(job.programRoot);
    return doubt.isWithheld;
  }

  /** Whether a job is given up. */
  isWithheld({ id }: JobRecord): boolean {
    return this.#jobs.get(id)?.isWithheld ?? false;
  }

  /** Whether a job of this program was given up. */
  isDistrusted(programRoot: Hex): boolean {
    return this.#programs.has(programRoot);
  }
}
