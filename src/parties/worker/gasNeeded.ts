import { isAddressEqual, type Address } from "viem";
import { MAX_ITEMS } from "../../program/run.ts";
import { sideGas } from "../../dispute/sideGas.ts";
import { isOpen, type ClaimRecord, type History, type JobRecord } from "../../chain/market/history.ts";
import { FORMS, formOf, type ClaimForm } from "../../chain/market/claimForm.ts";
import type { ProgramShape } from "../../dispute/run/execution.ts";
import type { Executions } from "../../runs/executions.ts";
import { jobGas, jobShape, missingGas, type JobShape } from "../../dispute/jobCost.ts";
import { missingOutputs, wantedOutputs } from "./settlement.ts";

/** A job as most are: no callback, and outputs of up to 64 KiB on chain. */
const USUAL_TERMS = { callbackGas: 0, maxOutputBytes: 2 ** 16, items: 1, answers: 0 } as const;

/**
 * The gas that a worker may still need: for claims, for the games over claims, with at least one game over each open
 * claim, and for one more job with a game.
 */
export class WorkerGas {
  readonly #arityBits: number;

  /** @param arityBits log2 of the children in a reveal: the deployment's. */
  constructor(arityBits: number) {
    this.#arityBits = arityBits;
  }

  /** @param programs Those that jobs are taken for. */
  needed(history: History, me: Address, programs: readonly ProgramShape[], executions: Executions): number {
    const ofJobs = programs.map(
      (program) =>
        jobGas(this.#shape(program, USUAL_TERMS)).total +
        Math.max(...FORMS.map((form) => this.#ofGame(program, MAX_ITEMS, form))),
    );
    let gas = Math.max(0, ...ofJobs);
    for (const record of history.claims.values()) {
      const job = history.jobs.get(record.jobId);
      if (job === undefined || !isAddressEqual(record.claim.worker, me)) continue;
      const program = executions.shapeOf(job);
      if (program !== undefined) gas += this.#ofClaim(job, record, program);
    }
    for (const job of history.jobs.values()) {
      const program = job.sealed && isAddressEqual(job.sealed.worker, me) ? executions.shapeOf(job) : undefined;
      // Opening the seal makes a claim, and anybody may then open games on the claim.
      if (program !== undefined)
        gas += jobGas(this.#shape(program, job.job)).total + this.#ofGame(program, job.job.items, formOf(job.job));
    }
    return gas;
  }

  #ofClaim(job: JobRecord, record: ClaimRecord, program: ProgramShape): number {
    if (record.refuted) return 0;
    const shape = this.#shape(program, job.job);
    const missing = missingOutputs(record);
    const end = missing.length > 0 ? missingGas(shape, wantedOutputs(job.job), missing) : 0;
    if (!isOpen(record)) return end;
    // Anybody may open any number of games; the games' payments arrive only afterwards.
    const games = record.games.filter(({ closed }) => closed === undefined).length;
    return (
      Math.max(end, jobGas(shape).finalise) + Math.max(games, 1) * this.#ofGame(program, job.job.items, formOf(job.job))
    );
  }

  #ofGame(program: ProgramShape, items: number, form: ClaimForm): number {
    return sideGas(program, items, form, this.#arityBits).worker;
  }

  #shape(program: ProgramShape, terms: Parameters<typeof jobShape>[1]): JobShape {
    return jobShape(program, terms, this.#arityBits);
  }
}
