import { isAddressEqual } from "viem";
import { RefuteError } from "../../base/errors.ts";
import type { Session, Snapshot } from "../../chain/market/session.ts";
import type { Forget } from "../../chain/market/forget.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { translateError } from "../../chain/translateError.ts";
import type { Start } from "../role/role.ts";
import { isInTime } from "./attempts.ts";
import { partSalt, type BatchPart } from "./batch.ts";
import { metered } from "./funds.ts";
import type { DispatchOptions } from "./options.ts";
import { ownJobs, partState, type PartState } from "./partState.ts";
import { mayPass } from "./retryable.ts";
import type { Attempt, BytesSource } from "./store.ts";

/** A part whose latest attempt is looked at. */
export type Looked = { part: BatchPart; last: Attempt | undefined; record: JobRecord | undefined; state: PartState };

/** The parts of a batch and how far each of them is: what the duties of a dispatcher share. */
export class Parts {
  /** Parts with complete bytes here. */
  readonly done: Set<number>;
  /** Parts that have had all their attempts. */
  readonly failed = new Set<number>();
  readonly #options: DispatchOptions;
  readonly #fail: (error: unknown) => void;
  readonly #attempts: Attempt[][];
  #looked: { blockNumber: bigint; all: readonly Looked[] } = { blockNumber: 0n, all: [] };
  /** The keys of the actions that run. */
  readonly #running = new Set<string>();
  /** By part, the block of the latest own transaction: snapshots from earlier blocks do not show the transaction. */
  readonly #acted = new Map<number, bigint>();
  readonly #reported = new Set<string>();

  /** A dispatcher remembers its own jobs only. */
  readonly forget: Forget = ({ job }) =>
    isAddressEqual(job.requester, this.#options.session.sender.address) ? "nothing" : "all";

  /** @param fail Ends the dispatcher. */
  constructor(options: DispatchOptions, fail: (error: unknown) => void) {
    const { batch, store } = options;
    [this.#options, this.#fail] = [options, fail];
    this.#attempts = batch.parts.map(() => []);
    for (const attempt of store.attempts()) this.#attempts[attempt.part]!.push(attempt);
    this.done = new Set(store.done().map(({ part }) => part));
  }

  get areDone(): boolean {
    return this.done.size === this.#options.batch.parts.length;
  }

  /** Whether no action runs. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** The parts without an attempt. */
  get unposted(): BatchPart[] {
    return this.#options.batch.parts.filter(({ number }) => this.#attempts[number]!.length === 0);
  }

  /** The amount paid or promised, minus refunds. */
  get committed(): bigint {
    return this.#attempts.flat().reduce((sum, { terms, refund = 0n }) => sum + terms.fee - refund, 0n);
  }

  /** The parts that are neither done nor given up, as the snapshot of the round shows them. */
  get looked(): readonly Looked[] {
    return this.#looked.all;
  }

  /** The same without the parts whose latest own transaction the snapshot does not show. */
  get current(): readonly Looked[] {
    const { blockNumber, all } = this.#looked;
    return all.filter(({ part }) => (this.#acted.get(part.number) ?? 0n) <= blockNumber);
  }

  /** Finds the jobs that any process posted for the batch, and notes jobs missing from the store. */
  adopt({ history }: Snapshot): void {
    const { batch, session } = this.#options;
    const records = ownJobs(history.jobs, session.sender.address);
    for (const part of batch.parts) {
      const known = this.#attempts[part.number]!;
      for (let attempt = 0; ; attempt++) {
        const salt = partSalt(batch.id, part, attempt);
        const record = records.get(salt);
        if (record === undefined && known[attempt] === undefined) break;
        if (known[attempt] !== undefined) continue;
        const { items, firstItem, fee, window, claimSeconds, deadline, answers } = record!.job;
        const terms = { items, firstItem, fee, window, claimSeconds, deadline, answer: answers > 0, salt };
        this.begin({ part: part.number, attempt, terms, refund: undefined });
      }
    }
  }

  /** The attempts of the parts that are not done. */
  *attempts(): Iterable<Attempt> {
    for (const attempts of this.#attempts) for (const one of attempts) if (!this.done.has(one.part)) yield one;
  }

  /** Looks at all parts. Called first in each round. */
  look({ history, now, blockNumber }: Snapshot): void {
    const { batch, session } = this.#options;
    const records = ownJobs(history.jobs, session.sender.address);
    const all = batch.parts.flatMap((part): Looked[] => {
      if (this.done.has(part.number) || this.failed.has(part.number)) return [];
      const last = this.#attempts[part.number]!.at(-1);
      const record = last && records.get(last.terms.salt);
      return [{ part, last, record, state: partState(record, now) }];
    });
    this.#looked = { blockNumber, all };
  }

  /** Whether a part needs another job: it has none, or the job it has can give no result. */
  needsJob({ last, state }: Looked, now: bigint): boolean {
    if (last === undefined || state.kind === "closed") return true;
    // A noted job that is not on chain can no longer reach the chain once the job's time is over.
    return state.kind === "unseen" && !isInTime(last, now);
  }

  mayTryAgain({ number }: BatchPart): boolean {
    return this.#attempts[number]!.length < this.#options.maxAttempts;
  }

  /** Writes an attempt down, before it is sent: a restarted process sends the same job again, and no other job. */
  begin(attempt: Attempt): void {
    this.#options.store.begin(attempt);
    this.#attempts[attempt.part]!.push(attempt);
  }

  /** Notes the amount that came back of an attempt's fee. */
  refund(attempt: Attempt, refund: bigint): void {
    if (attempt.refund !== undefined) return;
    this.#options.store.refunded(attempt.part, attempt.attempt, refund);
    attempt.refund = refund;
  }

  /** Finishes a part with complete bytes under a claim. */
  finish(part: BatchPart, { id, claim: { worker } }: ClaimRecord, source: BytesSource): void {
    const { store, batch, onEvent } = this.#options;
    store.finish({ part: part.number, claim: id, worker, source });
    this.done.add(part.number);
    onEvent?.({ kind: "done", part: part.number, worker, done: this.done.size, total: batch.parts.length });
  }

  /** Whether a thing is reported for the first time. */
  isNew(what: string): boolean {
    if (this.#reported.has(what)) return false;
    this.#reported.add(what);
    return true;
  }

  /**
   * Starts an action of a round. After a failure that a later look at the chain sorts out, a later round asks for the
   * action again. Any other failure ends the dispatcher.
   */
  start(start: Start, key: string, action: () => Promise<void>): void {
    start(key, async () => {
      this.#running.add(key);
      try {
        await action();
      } catch (thrown) {
        const error = translateError(thrown, key);
        if (!mayPass(error)) return this.#fail(error);
        if (error instanceof RefuteError && error.retryable && this.isNew(`delayed ${key} ${error.code}`))
          this.#options.onEvent?.({ kind: "delayed", what: key, why: error.message });
      } finally {
        this.#running.delete(key);
      }
    });
  }

  /** Sends a part's transactions, unless one is under way. The attempt pays for their gas. */
  send(start: Start, { part, attempt }: Attempt, action: (session: Session) => Promise<void>): void {
    const { session, store } = this.#options;
    const own = metered(session, ({ transactionHash, gasUsed, effectiveGasPrice, blockNumber }) => {
      store.spent(part, attempt, transactionHash, Number(gasUsed), gasUsed * effectiveGasPrice);
      this.#acted.set(part, blockNumber);
    });
    this.start(start, `part ${part}`, () => action(own));
  }
}
