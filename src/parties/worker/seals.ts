import { isAddressEqual, toHex, type Address, type Hex } from "viem";
import { REMEMBERED_BLOCKS } from "../../chain/market/forget.ts";
import { isOpen, type History, type JobRecord } from "../../chain/market/history.ts";
import { sealOf } from "../../chain/market/ids.ts";
import type { Session } from "../../chain/market/session.ts";
import type { Problem } from "../../base/health.ts";
import type { Logger } from "../../base/log.ts";
import type { Role } from "../role/role.ts";
import type { WorkerEvent } from "./events.ts";
import type { SealBook } from "./sealBook.ts";

const SALT_BYTES = 32;

/** A job whose claims are sealed: until when its seal is opened (unix seconds). */
type Waiting = { id: Hex; from: number; until: number };

/** The seals of a worker: made, opened in their time, and told of when they were not. */
export class Seals {
  readonly #session: Session;
  readonly #role: Role<WorkerEvent>;
  readonly #log: Logger;
  readonly #book: SealBook | undefined;
  /** Those of the latest round. */
  #waiting: Waiting[] = [];
  /** For finished jobs with openings: the block at which the end was first seen. */
  readonly #doneAt = new Map<Hex, bigint>();
  /** Whether an opening could not be forgotten. */
  #isStuck = false;
  #isUnwritable = false;

  /** @param book Where openings are kept; without one, nothing can be sealed. */
  constructor(session: Session, role: Role<WorkerEvent>, log: Logger, book: SealBook | undefined) {
    [this.#session, this.#role, this.#log, this.#book] = [session, role, log, book];
  }

  /** Whether a sealed job may be claimed, as far as the file is concerned. */
  get canKeep(): boolean {
    return !this.#isUnwritable;
  }

  /** Whether openings can be kept, now that a sealed job is to be claimed. */
  async problem(): Promise<Problem | undefined> {
    try {
      await this.#book?.open();
      return undefined;
    } catch (error) {
      return problemOf(error);
    }
  }

  /** The sealed jobs of this worker. */
  sealed({ jobs }: History): JobRecord[] {
    const sealed = [...jobs.values()].filter(({ sealed }) => sealed !== undefined && this.#isMe(sealed.worker));
    this.#waiting = sealed.map((job) => ({ id: job.id, ...this.#timesOf(job) }));
    return sealed;
  }

  /**
   * Reports lost seals and a folder that cannot be written to, and forgets openings of permanently finished jobs. Never
   * throws: a failed write is tried again in the next round.
   */
  tidy({ jobs }: History, blockNumber: bigint): void {
    this.#look();
    for (const job of jobs.values()) {
      if (job.broken !== undefined && this.#isMe(job.broken)) this.#lost(job, "somebody has closed the job");
      if (this.#book?.has(job.id) === true && this.#isDoneForGood(job, blockNumber)) this.#forget(this.#book, job.id);
    }
  }

  /** Returns true if a finished job must still be reported or forgotten. */
  keeps({ id, sealed }: JobRecord): boolean {
    return this.#book?.has(id) === true || (sealed !== undefined && this.#isMe(sealed.worker));
  }

  /**
   * Seals the root of a job claimed by the worker. The opening is on disk before.
   * @param nodes The nodes shown at the opening.
   */
  async seal(job: JobRecord, root: Hex, nodes: Hex): Promise<void> {
    const book = this.#book;
    if (book === undefined) return this.#unsealable(job);
    // A process that was killed in between goes on with the same seal: its transaction may be under way.
    let opening = book.ofRoot(job.id, root);
    if (opening === undefined) {
      const salt = toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES)));
      const seal = sealOf(job.id, this.#session.sender.address, root, salt);
      opening = { jobId: job.id, seal, root, salt, nodes };
      await book.keep(opening);
    }
    const by = Number(job.holder?.until ?? Infinity);
    const receipt = await this.#session.market.seal(job.job, job.terms!, opening.seal, by);
    const { from, until } = this.#timesOf(job);
    this.#role.report({ kind: "sealed", jobId: job.id, openFrom: from, openUntil: until, receipt });
  }

  /** Opens the worker's seal, if the time has come. */
  async open(job: JobRecord, now: bigint): Promise<void> {
    const { from, until } = this.#timesOf(job);
    const { worker, seal } = job.sealed!;
    if (now < from) return;
    if (now > until) return this.#lost(job, "the process, or its node, was not there");
    const opening = this.#book?.of(seal);
    if (opening === undefined) {
      const reason =
        `what opens the seal of job ${job.id} is not in ${this.#book?.path ?? "any file of this worker"}: start the ` +
        `worker with the file that has it by ${dateOf(until)}, or the whole collateral is lost`;
      this.#role.health.set("seals", { reason });
      return;
    }
    const { salt, nodes, root } = opening;
    const receipt = await this.#session.market.openSeal(job.job, job.terms!, worker, salt, nodes, until);
    this.#role.health.set("seals", undefined);
    this.#role.report({ kind: "submitted", jobId: job.id, root, receipt });
  }

  /** Logs the seals that fall due while the process does not run. */
  logWaiting(): void {
    for (const { id, from, until } of this.#waiting)
      this.#log.warn(
        { job: id, openFrom: dateOf(from), openUntil: dateOf(until) },
        "stops with a seal to open: start again before the end of that time, or the whole collateral is lost",
      );
  }

  #look(): void {
    let problem: Problem | undefined;
    try {
      this.#book?.requireWritable();
    } catch (error) {
      problem = problemOf(error);
    }
    if (problem !== undefined || this.#isUnwritable) this.#role.health.set("seals", problem);
    this.#isUnwritable = problem !== undefined;
  }

  /** A reorganisation may restore a seal that was opened or broken, together with the duty to open the seal. */
  #isDoneForGood(job: JobRecord, blockNumber: bigint): boolean {
    if (!isDone(job)) this.#doneAt.delete(job.id);
    else if (!this.#doneAt.has(job.id)) this.#doneAt.set(job.id, blockNumber);
    const doneAt = this.#doneAt.get(job.id);
    return doneAt !== undefined && blockNumber >= doneAt + REMEMBERED_BLOCKS;
  }

  #forget(book: SealBook, jobId: Hex): void {
    try {
      book.forget(jobId);
      this.#doneAt.delete(jobId);
      if (this.#isStuck) this.#role.health.set("seals", undefined);
      this.#isStuck = false;
    } catch (error) {
      this.#isStuck = true;
      this.#role.health.set("seals", problemOf(error));
    }
  }

  #lost({ id, terms }: JobRecord, why: string): void {
    if (!this.#role.isNew("sealLost", id)) return;
    const reason = `its seal was not opened in time: ${why}. The whole collateral is lost`;
    this.#role.report({ kind: "sealLost", jobId: id, reason, collateral: terms?.collateral ?? 0n });
  }

  #unsealable({ id }: JobRecord): void {
    const reason = `job ${id} is claimed and its submission must be sealed: name a file for what opens seals (--seals)`;
    this.#role.health.set("seals", { reason });
  }

  #timesOf({ terms }: JobRecord): { from: number; until: number } {
    const from = terms?.openFrom ?? 0;
    return { from, until: from + this.#session.deployment.parameters.baseClock };
  }

  #isMe(address: Address): boolean {
    return isAddressEqual(address, this.#session.sender.address);
  }
}

const dateOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

function problemOf(error: unknown): Problem {
  const { code, message } = error as { code?: string; message: string };
  return { reason: message, ...(code !== undefined && { code }) };
}

/** Returns true if no seal of a job can need opening. After another worker's refuted claim, a seal may appear. */
const isDone = ({ closed, holder, sealed, claims }: JobRecord): boolean =>
  closed || (holder === undefined && sealed === undefined && claims.length > 0 && claims.every((c) => !isOpen(c)));
