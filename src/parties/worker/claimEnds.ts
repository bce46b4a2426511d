import { NonceTakenError, isDone, isTooEarly } from "../../chain/errors.ts";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import { RefuteError } from "../../base/errors.ts";
import { isOpen, type ClaimRecord, type History, type JobRecord } from "../../chain/market/history.ts";
import type { Session } from "../../chain/market/session.ts";
import type { Executions } from "../../runs/executions.ts";
import type { Logger } from "../../base/log.ts";
import type { Role } from "../role/role.ts";
import { withoutPaths } from "../../base/redact.ts";
import { Deliveries, isTooLate } from "./deliveries.ts";
import { shortMessage } from "./errors.ts";
import type { WorkerEvent } from "./events.ts";
import { jobShape, missingGas } from "../../dispute/jobCost.ts";
import type { NativeClaims } from "./nativeClaims.ts";
import { collect, deliver, deliveryOf, finalise, missingOutputs, wantedOutputs } from "./settlement.ts";

/** Ends the undisputed claims of a worker: finalises, delivers and collects. */
export class ClaimEnds {
  readonly #options: { session: Session; log: Logger };
  readonly #role: Role<WorkerEvent>;
  readonly #executions: Executions;
  readonly #native: NativeClaims | undefined;
  readonly #deliveries = new Deliveries();
  /** The chain's time at the latest round: a delivery may take many rounds until it fails. */
  #now = 0n;
  /**
   * Claims that are over, with earnings collected or without earnings: the set saves one read per round. After a
   * reorganisation the records are other objects.
   */
  readonly #collected = new WeakSet<ClaimRecord>();

  constructor(options: { session: Session; log: Logger }, role: Role<WorkerEvent>, native: NativeClaims | undefined) {
    [this.#options, this.#role, this.#executions, this.#native] = [options, role, role.executions, native];
  }

  /** Takes note of a new round. */
  begin({ claims }: History, now: bigint): void {
    this.#now = now;
    this.#deliveries.forget(claims);
  }

  /** Returns true if the worker has given up delivering a claim's remaining outputs. */
  hasGivenUp({ id }: ClaimRecord): boolean {
    return this.#deliveries.hasGivenUp(id);
  }

  /** Runs the due actions for an undisputed claim of the worker. */
  async tend(job: JobRecord, record: ClaimRecord, now: bigint): Promise<void> {
    if (isOpen(record) && now <= record.windowEnd) return;
    if (isOpen(record) || record.finalised) await this.#settle(job, record, now);
    if (record.games.length === 0 || this.#collected.has(record)) return;
    this.#role.report(await collect(this.#options.session, record));
    this.#collected.add(record);
  }

  /** Delivers due outputs if a claim is final or can become final, or only finalises the claim. */
  async #settle(job: JobRecord, record: ClaimRecord, now: bigint): Promise<void> {
    const { session } = this.#options;
    const missing = missingOutputs(record);
    const delivers = missing.length > 0 && this.#deliveries.isDue(record.id, now) && this.#executions.canExecute(job);
    // The first delivery finalises. Once one has failed, the collateral does not wait for another try.
    if (!record.finalised && (!delivers || this.#deliveries.hasFailed(record.id)))
      return this.#role.report(await finalise(session, record));
    if (!delivers) return;
    // For a final claim, `until` holds the time of finality.
    if (record.finalised && isTooLate((await session.market.jobOf(job.id)).until, now))
      return this.#giveUp(record, missing);
    if (await this.#isTooDear(job, record, missing)) return void this.#deliveries.failed(record.id, this.#now, false);
    for (const output of missing) if (!(await this.#deliver(job, record, output))) return;
  }

  #giveUp({ id, jobId }: ClaimRecord, missing: readonly number[]): void {
    this.#deliveries.giveUp(id);
    const reason = "the week after the claim became final is over, or nearly: the requester can have the fee back";
    for (const output of missing) this.#role.report({ kind: "undelivered", jobId, claimId: id, output, reason });
  }

  /** Whether the outputs still missing cost more gas, at the price of now, than the fee repays. */
  async #isTooDear(job: JobRecord, { id }: ClaimRecord, missing: readonly number[]): Promise<boolean> {
    const { session, log } = this.#options;
    const program = this.#executions.shapeOf(job);
    if (program === undefined) return false;
    const { fee } = job.job;
    const shape = jobShape(program, job.job, session.deployment.parameters.arityBits);
    const gas = missingGas(shape, wantedOutputs(job.job), missing);
    const gasPrice = await gasPriceNow(session.publicClient);
    const cost = BigInt(gas) * gasPrice;
    if (cost <= fee) return false;
    const numbers = { jobId: job.id, claimId: id, fee: String(fee), cost: String(cost), gas };
    const message = "not delivered now: at the price of now the gas costs more than the fee; it is tried again later";
    if (this.#role.isNew("too dear", id)) log.warn({ ...numbers, gasPrice: String(gasPrice) }, message);
    return true;
  }

  /**
   * Delivers an output, or notes a failure: the claim's deliveries are tried again later.
   * @returns True if the delivery did not fail.
   * @throws an error that may pass by itself: the next round tries again.
   */
  async #deliver(job: JobRecord, record: ClaimRecord, output: number): Promise<boolean> {
    const { session, log } = this.#options;
    try {
      const delivery =
        (await this.#native?.delivery(job, record, output)) ??
        (await this.#executions.use(job, (run) => deliveryOf(run, output)));
      if (delivery !== undefined) this.#role.report(await deliver(session, record, delivery));
      return true;
    } catch (error) {
      // The delivery was not tried, or is there already: the snapshot is behind.
      if (error instanceof NonceTakenError || isDone(error)) throw error;
      // The rule also covers a delivery lost by a pool or a reorganisation: the next round finalises first, and waiting
      // for another delivery locks nothing.
      const mayPass = (error instanceof RefuteError && error.retryable) || isTooEarly(error);
      if (this.#deliveries.failed(record.id, this.#now, mayPass) === "again") throw error;
      const reason = withoutPaths(shortMessage(error as Error));
      const message = "delivery failed; it is tried again, ever more rarely, and the claim finalised meanwhile";
      if (this.#role.isNew(`delivery ${output}`, record.id, reason))
        log.warn({ jobId: job.id, claimId: record.id, output, reason }, message);
      return false;
    }
  }
}
