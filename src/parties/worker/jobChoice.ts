import { concatHex, keccak256, zeroAddress, type Address, type Hex, type TransactionReceipt } from "viem";
import { ContractRevertError, TransactionRevertedError } from "../../chain/errors.ts";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { JobStatus } from "../../chain/structs.ts";
import type { Role, RoleOptions } from "../role/role.ts";
import { storedBytesOf } from "../../runs/storedRuns.ts";
import type { WorkerEvent } from "./events.ts";
import { coveringFee, jobGas, jobShape, MAX_CLAIM_GAS, termsGas } from "../../dispute/jobCost.ts";
import { refusalOf, type WorkerPolicy } from "./jobPolicy.ts";

/** A job with the fee that covers the job's gas. `maxGas`: the limit for a claim on terms, once checked. */
type PricedJob = { record: JobRecord; gas: number; gasPrice: bigint; cost: bigint; maxGas?: bigint };

/** Jobs whose failed claims are remembered. */
const MAX_FAILED = 1_000;

/** Chooses the job that a worker claims next, claims the job, and says why others are not taken. */
export class JobChoice {
  readonly #options: Pick<RoleOptions<WorkerEvent>, "session" | "log"> & { policy: WorkerPolicy };
  readonly #role: Role<WorkerEvent>;
  /** Jobs whose latest claim failed: others come first. */
  readonly #failed = new Set<Hex>();
  /** Contracts of classes under which a paid claim failed after its simulation: jobs with these are not claimed. */
  readonly #traps = new Set<Address>();

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
      if (refusal !== undefined || !(await this.#fits(job))) continue;
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

  /**
   * Claims a job. The contract of classes is the requester's, and may pass in simulations and burn the gas of each
   * transaction. A single failure, with the job still open, is enough.
   * @throws as the client's call
   */
  async claim({ record: { id, job, terms }, maxGas }: PricedJob): Promise<TransactionReceipt> {
    const { market } = this.#options.session;
    try {
      const receipt = await market.claim(job, terms, maxGas);
      this.#failed.delete(id);
      return receipt;
    } catch (error) {
      if (this.#failed.size >= MAX_FAILED) this.#failed.clear();
      this.#failed.add(id);
      const classes = terms?.classes ?? zeroAddress;
      const mayBeTrap = error instanceof TransactionRevertedError && classes !== zeroAddress;
      if (mayBeTrap && (await market.jobOf(id)).status === JobStatus.open) {
        this.#traps.add(classes);
        const message =
          "a claim was simulated, and failed when it was paid for: no more jobs are claimed that ask this contract " +
          "for classes, until a restart";
        this.#options.log.warn({ job: id, classes, transactionHash: error.transactionHash }, message);
      }
      throw error;
    }
  }

  /** Whether the chain would let this worker claim a job now: what its terms ask for may change. */
  async #fits(priced: PricedJob): Promise<boolean> {
    const { job, terms } = priced.record;
    if (terms === undefined) return true;
    if (this.#traps.has(terms.classes)) return false;
    const { market } = this.#options.session;
    priced.maxGas = (await market.claimBytesGas(job, terms)) + MAX_CLAIM_GAS;
    try {
      await market.checkClaim(job, terms, priced.maxGas);
      return true;
    } catch (error) {
      if (error instanceof ContractRevertError) return false;
      throw error;
    }
  }

  /**
   * Jobs of known programs with what their gas costs now, the most profitable first; equal ones in an own order. Jobs
   * whose claim failed come last: otherwise a single job would keep the worker from all others.
   */
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
      const total = plain + (record.terms === undefined ? 0 : termsGas(record.terms));
      return { record, turn, gas: total, gasPrice, cost: coveringFee({ total }, gasPrice) };
    });
    const profit = ({ record, cost }: PricedJob): bigint => record.job.fee - cost;
    const failures = ({ record }: PricedJob): number => Number(this.#failed.has(record.id));
    return priced.sort(
      (a, b) => failures(a) - failures(b) || Number(profit(b) - profit(a)) || (a.turn < b.turn ? -1 : 1),
    );
  }

  #reportUnderpaid({ record: { id, job }, gas, gasPrice, cost }: PricedJob): void {
    if (!this.#role.isNew("underpaid", id)) return;
    const { minFee } = this.#options.policy;
    const numbers = { job: id, fee: String(job.fee), cost: String(cost), minFee: String(minFee), gas };
    const message = "job not taken: its fee is below what its gas costs at the price of now, and the least profit";
    this.#options.log.info({ ...numbers, gasPrice: String(gasPrice) }, message);
  }
}
