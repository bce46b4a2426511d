import type { Hex } from "viem";
import { pause } from "../../chain/pause.ts";
import { ShortOfFundsError } from "../../chain/errors.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { inTurn } from "../../base/inTurn.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { followMarket, type Snapshot } from "../../chain/market/session.ts";
import { ProgramLibrary } from "../../runs/programLibrary.ts";
import { Tasks } from "../role/tasks.ts";
import { throughOutages } from "../requester/outages.ts";
import { postJob, publishInputs } from "../requester/postJob.ts";
import { isInTime, nextAttempt } from "./attempts.ts";
import { partSalt, type BatchPart } from "./batch.ts";
import { postingReceipts } from "./chainSpending.ts";
import { Checks } from "./checks.ts";
import { ensureCredit } from "../../chain/market/deposit.ts";
import { Disputes } from "../../../watcher/disputes.ts";
import { metered, requireFunds } from "./funds.ts";
import { requireJoin } from "./chainedParts.ts";
import { nextFee, type DispatchOptions } from "./options.ts";
import { PartOutputs } from "./partOutputs.ts";
import { waitUntilMined } from "./waitUntilMined.ts";
import { isWanted, ownJobs, partState, type PartState } from "./partState.ts";
import { mayPass } from "./retryable.ts";
import { requireProgress } from "./progress.ts";
import type { Attempt } from "./store.ts";

/** Seconds after a window's end in which the worker may make its claim final itself. */
const FINALISE_AFTER = 60n;

/** Parts whose outputs are fetched at a time. */
const FETCHES = 4;

/**
 * Dispatches a batch until all parts are done: posts the parts as jobs, follows the jobs, posts failed jobs again,
 * checks a share of the claims, and gathers all outputs in the store. A killed process can restart with any store: the
 * chain shows the posted jobs, by salts. Two simultaneous dispatchers with separate stores may post a part twice.
 * @throws DispatchBudgetError, ShortOfFundsError, InsufficientGasFundsError before anything is sent;
 *   DispatchUnfinishedError, DispatchJoinError; the errors of `checkJob` and `postJob`; the signal's reason
 */
export const dispatch = (options: DispatchOptions): Promise<void> => new Dispatcher(options).run();

/** A part whose latest attempt is looked at. */
type Looked = { part: BatchPart; last: Attempt | undefined; record: JobRecord | undefined; state: PartState };

class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #attempts: Attempt[][];
  readonly #done: Set<number>;
  readonly #outputs: PartOutputs;
  readonly #checks: Checks;
  readonly #disputes: Disputes;
  readonly #tasks = new Tasks();
  /** Two deposits at once would take the same money. */
  readonly #paying = inTurn();
  /** The error of a failed task. An error ends the dispatcher. */
  #failure: { error: unknown } | undefined;
  /** Parts that have had all their attempts. */
  readonly #failed = new Set<number>();
  /** By part, the block of the latest own transaction: snapshots from earlier blocks do not show the transaction. */
  readonly #acted = new Map<number, bigint>();
  /** By salt, since when (the chain's time) a job is seen open. */
  readonly #openSince = new Map<Hex, bigint>();
  /** By claim, the time (local clock, milliseconds) since which the claim is final without all bytes. */
  readonly #withoutBytes = new Map<Hex, number>();
  readonly #reported = new Set<string>();

  constructor(options: DispatchOptions) {
    const { batch, store, urls } = options;
    this.#options = options;
    this.#attempts = batch.parts.map(() => []);
    for (const attempt of store.attempts()) this.#attempts[attempt.part]!.push(attempt);
    this.#done = new Set(store.done().map(({ part }) => part));
    this.#outputs = new PartOutputs(batch, store, urls);
    this.#checks = new Checks(options);
    const { session, execute, intervalMs } = options;
    const programs = ProgramLibrary.of([batch.program]);
    this.#disputes = new Disputes({ session, execute, intervalMs, programs }, this.#paying);
  }

  async run(): Promise<void> {
    const { session, batch, store, signal, intervalMs, onOutage, onEvent } = this.#options;
    const follow = followMarket(session);
    const outages = { signal, intervalMs, onOutage };
    const look = (): Promise<Snapshot> => throughOutages(follow, outages);
    try {
      // SAFETY: without what was written down, jobs that are on their way are not known before they are mined.
      if (store.attempts().length === 0) await waitUntilMined(session, outages);
      this.#adopt(await look());
      const left = batch.parts.filter(({ number }) => this.#attempts[number]!.length === 0);
      await requireFunds(session, batch, left, this.#options.terms, this.#committed());
      while (this.#done.size < batch.parts.length) {
        signal?.throwIfAborted();
        const isIdle = await this.#round(await look());
        if (isIdle) requireProgress(this.#options, this.#done, this.#failed, this.#committed());
        if (this.#done.size < batch.parts.length) await pause(intervalMs, signal);
        if (this.#failure !== undefined) throw this.#failure.error;
      }
    } finally {
      await this.#tasks.settled();
      for (const claim of this.#disputes.left) onEvent?.({ kind: "disputeLeft", claim });
      await this.#disputes.end();
    }
  }

  /** Finds the jobs that any process posted for the batch, and notes jobs missing from the store. */
  #adopt({ history }: Snapshot): void {
    const { store, batch, session } = this.#options;
    const records = ownJobs(history.jobs, session.sender.address);
    for (const part of batch.parts) {
      const known = this.#attempts[part.number]!;
      for (let attempt = 0; ; attempt++) {
        const salt = partSalt(batch.id, part, attempt);
        const record = records.get(salt);
        if (record === undefined && known[attempt] === undefined) break;
        if (known[attempt] === undefined) {
          const { items, firstItem, fee, window, claimSeconds, deadline, answers } = record!.job;
          const terms = { items, firstItem, fee, window, claimSeconds, deadline, answer: answers > 0, salt };
          store.begin({ part: part.number, attempt, terms });
          known.push({ part: part.number, attempt, terms, refund: undefined });
        }
        if (record !== undefined && !this.#done.has(part.number)) this.#noteSpending(part.number, attempt, record.id);
      }
    }
  }

  #noteSpending(part: number, attempt: number, jobId: Hex): void {
    const { session, store } = this.#options;
    this.#start(`spending ${part} ${attempt}`, async () => {
      // The receipts are only for statistics: a node without old events leaves them out.
      const receipts = await postingReceipts(session, jobId).catch(() => []);
      for (const { transactionHash, gasUsed, effectiveGasPrice } of receipts)
        store.spent(part, attempt, transactionHash, Number(gasUsed), gasUsed * effectiveGasPrice);
    });
  }

  /** @returns whether nothing is under way */
  async #round({ history, now, blockNumber }: Snapshot): Promise<boolean> {
    const { batch, openJobs, session } = this.#options;
    const records = ownJobs(history.jobs, session.sender.address);
    const looked = batch.parts.flatMap((part): Looked[] => {
      if (this.#done.has(part.number) || this.#failed.has(part.number)) return [];
      const last = this.#attempts[part.number]!.at(-1);
      const record = last && records.get(last.terms.salt);
      return [{ part, last, record, state: partState(record, now) }];
    });
    const toPost: Looked[] = [];
    let open = 0;
    for (const one of looked) {
      const { part, last, state } = one;
      // A noted job that is not on chain can no longer reach the chain once the job's time is over.
      const isAbandoned = state.kind === "unseen" && last !== undefined && !isInTime(last, now);
      if (last === undefined || state.kind === "closed" || isAbandoned) toPost.push(one);
      else open++;
      if ((this.#acted.get(part.number) ?? 0n) > blockNumber) continue;
      this.#follow(one, now);
    }
    const bonds = await this.#dispute(looked);
    await this.#post(toPost, openJobs - open, now, bonds);
    return open === 0 && this.#tasks.running.size === 0;
  }

  /** Does what a part's job asks for. */
  #follow(one: Looked, now: bigint): void {
    const { part, last, record, state } = one;
    if (last === undefined) return;
    this.#reportClaims(part, record);
    if (state.kind !== "open") this.#openSince.delete(last.terms.salt);
    switch (state.kind) {
      case "unseen":
        // The process was killed before the job was mined: post the same job again. The market takes a job once.
        if (!isInTime(last, now)) return;
        return this.#send(part, last, async (session) => {
          // The deposit for the job may have been spent elsewhere meanwhile.
          await this.#paying(() => ensureCredit(session, last.terms.fee, last.terms.fee));
          await this.#postAttempt(session, part, last);
        });
      case "awaitingInput":
        return this.#send(part, last, (session) =>
          publishInputs(session, this.#options.batch.description, part.inputs, record!.job),
        );
      case "open": {
        const { openSeconds, terms } = this.#options;
        const since = getOrAdd(this.#openSince, last.terms.salt, () => now);
        const pays = nextFee(terms, last.terms.fee, isWanted(record));
        if (now - since < BigInt(openSeconds) || pays <= last.terms.fee || !this.#mayTryAgain(part)) return;
        return this.#send(part, last, async ({ market }) => {
          await market.cancel(record!.job);
          this.#options.onEvent?.({ kind: "cancelled", part: part.number, attempt: last.attempt });
        });
      }
      case "late":
        return this.#send(part, last, async ({ market }) => {
          await market.expire(record!.job);
          this.#options.onEvent?.({ kind: "expired", part: part.number, attempt: last.attempt });
        });
      case "submitted":
        return this.#takeClaim(part, record!, state.claim);
      case "due":
        this.#takeClaim(part, record!, state.claim);
        return this.#makeFinal(part, last, record!, state.claim, now);
      case "final":
        return this.#takeResult(part, record!, state.claim);
      case "closed":
        return this.#noteRefund(part, last, record!);
      default:
    }
  }

  /** Fetches the outputs of a claim during the claim's window, and checks the claim if drawn. */
  #takeClaim(part: BatchPart, record: JobRecord, claim: ClaimRecord): void {
    this.#check(part, claim);
    if (this.#options.store.check(claim.id) !== "wrong") this.#fetch(part, record, claim);
  }

  /** Makes a claim final after the window, unless the claim is wrong or a check is running. */
  #makeFinal(part: BatchPart, last: Attempt, record: JobRecord, claim: ClaimRecord, now: bigint): void {
    if (now <= claim.windowEnd + FINALISE_AFTER) return;
    const outcome = this.#options.store.check(claim.id);
    if (outcome === "drawn") return;
    // Nobody can dispute it any more. Its outputs are computed here; others may have it paid.
    if (outcome === "wrong") return this.#takeResult(part, record, claim);
    this.#send(part, last, async ({ market }) => void (await market.finalise(claim.claim)));
  }

  /** Has the claims disputed that a check found wrong. @returns the bonds that this may still take */
  async #dispute(looked: readonly Looked[]): Promise<bigint> {
    const { store, onEvent } = this.#options;
    const wrong = looked.flatMap(({ part, state }) =>
      state.kind === "submitted" && store.check(state.claim.id) === "wrong" ? [{ part, claim: state.claim }] : [],
    );
    const { bonds, undisputed } = await this.#disputes.tend(wrong.map(({ claim }) => claim));
    for (const { claim, why } of undisputed) {
      const { part } = wrong.find((one) => one.claim.id === claim)!;
      if (this.#isNew(`undisputed ${claim}`)) onEvent?.({ kind: "undisputed", part: part.number, claim, why });
    }
    return bonds;
  }

  #check(part: BatchPart, claim: ClaimRecord): void {
    const check = this.#checks.take(part, claim);
    if (check !== undefined) this.#start(`check ${claim.id}`, check);
  }

  /** Takes the bytes of a final claim: delivered on chain, or from its worker; or computes them here. */
  #takeResult(part: BatchPart, record: JobRecord, claim: ClaimRecord): void {
    const { store } = this.#options;
    this.#check(part, claim);
    const outcome = store.check(claim.id);
    if (outcome === "drawn") return;
    if (outcome === "wrong" && !store.isComputed(claim.id)) return this.#compute(part, claim);
    if (outcome !== "wrong") this.#outputs.takeDelivered(part, claim);
    if (this.#outputs.missing(part, claim.id).length === 0) return this.#finish(part, claim);
    this.#fetch(part, record, claim);
    this.#computeIfWithheld(part, claim);
  }

  #fetch(part: BatchPart, record: JobRecord, claim: ClaimRecord): void {
    const { urls, signal } = this.#options;
    const fetches = [...this.#tasks.running].filter((key) => key.startsWith("fetch"));
    if (urls.length === 0 || fetches.length >= FETCHES) return;
    this.#start(`fetch ${part.number}`, () => this.#outputs.fetch(part, record, claim, signal));
  }

  #computeIfWithheld(part: BatchPart, claim: ClaimRecord): void {
    const { withheldSeconds, onEvent } = this.#options;
    const since = getOrAdd(this.#withoutBytes, claim.id, () => Date.now());
    if (Date.now() - since < withheldSeconds * 1_000) return;
    if (this.#isNew(`withheld ${claim.id}`))
      onEvent?.({ kind: "withheld", part: part.number, worker: claim.claim.worker });
    this.#compute(part, claim);
  }

  #compute(part: BatchPart, claim: ClaimRecord): void {
    this.#start(`compute ${part.number}`, () => this.#checks.compute(part, claim, this.#outputs));
  }

  /** Finishes a part with complete local bytes under a final claim. */
  #finish(part: BatchPart, claim: ClaimRecord): void {
    const { store, batch, onEvent } = this.#options;
    const { worker } = claim.claim;
    requireJoin(batch, store, part, claim.id);
    store.finish({ part: part.number, claim: claim.id, worker, source: this.#outputs.source(part, claim) });
    this.#done.add(part.number);
    if (claim.finalised && claim.claim.job.deliverables !== 0n && !claim.paid)
      onEvent?.({ kind: "undelivered", part: part.number, worker, job: claim.jobId });
    onEvent?.({ kind: "done", part: part.number, worker, done: this.#done.size, total: batch.parts.length });
  }

  #reportClaims(part: BatchPart, record: JobRecord | undefined): void {
    const { onEvent } = this.#options;
    for (const { id, claim, refuted } of record?.claims ?? []) {
      const { worker } = claim;
      const about = { part: part.number, worker, claim: id };
      if (this.#isNew(`submitted ${id}`)) onEvent?.({ kind: "submitted", ...about });
      if (refuted && this.#isNew(`refuted ${id}`)) onEvent?.({ kind: "refuted", ...about });
    }
  }

  #isNew(what: string): boolean {
    if (this.#reported.has(what)) return false;
    this.#reported.add(what);
    return true;
  }

  #noteRefund(part: BatchPart, last: Attempt, { job }: JobRecord): void {
    if (last.refund !== undefined) return;
    const { session, store } = this.#options;
    this.#start(`part ${part.number}`, async () => {
      last.refund = (await session.market.refundOf(job)) ?? 0n;
      store.refunded(part.number, last.attempt, last.refund);
    });
  }

  /** Posts parts up to the limit on open jobs and within the budget. @param bonds Credit that disputes need. */
  async #post(wanted: readonly Looked[], room: number, now: bigint, bonds: bigint): Promise<void> {
    const { batch, session, store, terms } = this.#options;
    const chosen: { part: BatchPart; attempt: Attempt }[] = [];
    let committed = this.#committed();
    for (const { part, last, record, state } of wanted) {
      if (chosen.length >= room) break;
      // The refund must be known before paying more.
      if (state.kind === "closed" && last?.refund === undefined) continue;
      if (last !== undefined && !this.#mayTryAgain(part)) {
        this.#failed.add(part.number);
        continue;
      }
      if (last !== undefined && state.kind === "unseen") this.#abandon(last);
      const fee = nextFee(terms, last?.terms.fee, state.kind === "unseen" || isWanted(record));
      if (committed + fee > terms.budget) continue;
      committed += fee;
      chosen.push({ part, attempt: nextAttempt(batch, part, terms, { last, fee, now }) });
    }
    if (chosen.length === 0) return;
    const needed = chosen.reduce((sum, { attempt }) => sum + attempt.terms.fee, 0n);
    const unposted = this.#attempts.filter(({ length }) => length === 0).length - chosen.length;
    const wantedSoon = needed + BigInt(Math.max(unposted, 0)) * terms.fee;
    try {
      await this.#paying(() => ensureCredit(session, bonds + needed, bonds + wantedSoon));
    } catch (error) {
      // Bonds come back, and then there is more.
      if (error instanceof ShortOfFundsError && this.#disputes.left.length > 0) return;
      throw error;
    }
    for (const { part, attempt } of chosen) {
      // Noted before sending: a restarted process sends the same job again, and no other job.
      store.begin(attempt);
      this.#attempts[part.number]!.push(attempt);
      this.#send(part, attempt, (own) => this.#postAttempt(own, part, attempt));
    }
  }

  async #postAttempt(session: DispatchOptions["session"], part: BatchPart, { attempt, terms }: Attempt): Promise<void> {
    await postJob(session, this.#options.batch.description, part.inputs, terms);
    this.#options.onEvent?.({ kind: "posted", part: part.number, attempt, fee: terms.fee });
  }

  #abandon(last: Attempt): void {
    if (last.refund !== undefined) return;
    last.refund = last.terms.fee;
    this.#options.store.refunded(last.part, last.attempt, last.refund);
  }

  #mayTryAgain({ number }: BatchPart): boolean {
    return this.#attempts[number]!.length < this.#options.maxAttempts;
  }

  /** Returns the amount paid or promised, minus refunds. */
  #committed(): bigint {
    return this.#attempts.flat().reduce((sum, { terms, refund = 0n }) => sum + terms.fee - refund, 0n);
  }

  /** Starts an action in parallel, unless its key is in use. An error of the action ends the dispatcher. */
  #start(key: string, action: () => Promise<void>): void {
    this.#tasks.start(key, () =>
      action().catch((error: unknown) => {
        this.#failure ??= { error };
      }),
    );
  }

  /** Sends a part's transaction, unless one is under way. If others were faster, the next round looks again. */
  #send(part: BatchPart, { attempt }: Attempt, action: (session: DispatchOptions["session"]) => Promise<void>): void {
    const { session, store } = this.#options;
    this.#start(`part ${part.number}`, async () => {
      const own = metered(session, ({ transactionHash, gasUsed, effectiveGasPrice, blockNumber }) => {
        store.spent(part.number, attempt, transactionHash, Number(gasUsed), gasUsed * effectiveGasPrice);
        this.#acted.set(part.number, blockNumber);
      });
      await action(own).catch((error: unknown) => {
        if (!mayPass(error)) throw error;
      });
    });
  }
}
