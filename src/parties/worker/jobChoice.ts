import { concatHex, keccak256 } from "viem";
import { ContractRevertError } from "../../chain/errors.ts";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import type { Role, RoleOptions } from "../role/role.ts";
import { storedBytesOf } from "../../runs/storedRuns.ts";
import type { WorkerEvent } from "./events.ts";
import { coveringFee, jobGas, jobShape, SEALED_GAS } from "../../dispute/jobCost.ts";
import { isSealed, refusalOf, type WorkerPolicy } from "./jobPolicy.ts";

/** A job with the fee that covers the job's gas. */
type PricedJob = { record: JobRecord; gas: number; gasPrice: bigint; cost: bigint };

/** Chooses the job that a worker claims next, and says why others are not taken. */
export class JobChoice {
  readonly #options: Pick<RoleOptions<WorkerEvent>, "session" | "log"> & { policy: WorkerPolicy };
  readonly #role: Role<WorkerEvent>;

  constructor(
    options: Pick<RoleOptions<WorkerEvent>, "session" | "log"> & { policy: WorkerPolicy },
    role: Role<WorkerEvent>,
  ) {
    [this.#options, this.#role] = [options, role];
  }

  /**
   * Returns the most profitable suitable job with enough room on disk. A claim on a job without room could lose data
   * that games over the job's items, or over earlier claims, need.
   * @param jobs The claimable jobs.
   */
  async best(jobs: readonly JobRecord[], now: bigint): Promise<PricedJob | undefined> {
    const { session, policy, log } = this.#options;
    const { executions } = this.#role;
    const { stored } = executions;
    const isAtHand = (record: JobRecord): boolean => executions.hasInputs(record);
    let { problem } = stored;
    let best: PricedJob | undefined;
    // Checks jobs in turn until a job suits: each check hashes the job's inputs, and anybody may post any number of
    // jobs.
    for (const job of await this.#priced(jobs)) {
      const refusal = refusalOf(job.record, job.cost, policy, session.deployment.parameters.rate, now, isAtHand);
      if (refusal === "fee") this.#reportUnderpaid(job);
      if (refusal !== undefined || !(await this.#fits(job.record))) continue;
      // The files on disk may be gone: the worker could not serve a claim on the job.
      if (executions.inputsOf(job.record) === undefined) continue;
      const bytes = storedBytesOf(job.record);
      const lacking = await stored.problemOf(bytes);
      if (lacking === undefined) best = job;
      else if (stored.canHold(bytes)) problem ??= lacking;
      else if (this.#role.isNew("too large", job.record.id))
        log.info({ job: job.record.id, bytes }, "job not taken: its run takes more on disk than --snapshot-mib allows");
      if (best !== undefined) break;
    }
    this.#role.health.set("runsOnDisk", problem);
    return best;
  }

  /** Whether the chain would let this worker claim a job now: what its terms ask for may change. */
  async #fits({ job, terms }: JobRecord): Promise<boolean> {
    if (terms === undefined) return true;
    try {
      await this.#options.session.market.checkClaim(job, terms);
      return true;
    } catch (error) {
      if (error instanceof ContractRevertError) return false;
      throw error;
    }
  }

  /** Jobs of known programs with what their gas costs now, the most profitable first; equal ones in an own order. */
  async #priced(jobs: readonly JobRecord[]): Promise<PricedJob[]> {
    const { publicClient, deployment, sender } = this.#options.session;
    const known = jobs.flatMap((record) => {
      const program = this.#role.executions.shapeOf(record);
      return program === undefined ? [] : [{ record, program }];
    });
    if (known.length === 0) return [];
    const gasPrice = await gasPriceNow(publicClient);
    const priced = known.map(({ record, program }) => {
      // Workers that see the same jobs begin with different jobs: the loser of a race for a job has paid for the
      // attempt.
      const turn = keccak256(concatHex([record.id, sender.address]));
      const plain = jobGas(jobShape(program, record.job, deployment.parameters.arityBits)).total;
      const total = plain + (isSealed(record) ? SEALED_GAS : 0);
      return { record, turn, gas: total, gasPrice, cost: coveringFee({ total }, gasPrice) };
    });
    const profit = ({ record, cost }: PricedJob): bigint => record.job.fee - cost;
    return priced.sort((a, b) => Number(profit(b) - profit(a)) || (a.turn < b.turn ? -1 : 1));
  }

  #reportUnderpaid({ record: { id, job }, gas, gasPrice, cost }: PricedJob): void {
    if (!this.#role.isNew("underpaid", id)) return;
    const { minFee } = this.#options.policy;
    const numbers = { job: id, fee: String(job.fee), cost: String(cost), minFee: String(minFee), gas };
    const message = "job not taken: its fee is below what its gas costs at the price of now, and the least profit";
    this.#options.log.info({ ...numbers, gasPrice: String(gasPrice) }, message);
  }
}
