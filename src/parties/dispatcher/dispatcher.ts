import { Disputes } from "../../../watcher/disputes.ts";
import type { WatcherEvent } from "../../../watcher/events.ts";
import { watcherLine } from "../../../watcher/watcher.ts";
import { inTurn } from "../../base/inTurn.ts";
import { SILENT } from "../../base/log.ts";
import { translateError } from "../../chain/translateError.ts";
import { ProgramLibrary } from "../../runs/programLibrary.ts";
import { isOutage } from "../requester/outages.ts";
import { Role, type Duty, type RoundSnapshot, type Start } from "../role/role.ts";
import { postingReceipts } from "./chainSpending.ts";
import { Checking } from "./checking.ts";
import { requireSecret } from "./checks.ts";
import { Following } from "./following.ts";
import { requireFunds } from "./funds.ts";
import type { DispatchOptions } from "./options.ts";
import { Parts } from "./parts.ts";
import { ownJobs } from "./partState.ts";
import { Posting } from "./posting.ts";
import { waitUntilMined } from "./waitUntilMined.ts";

/**
 * Dispatches a batch until all parts are done: posts the parts as jobs, follows the jobs, posts failed jobs again,
 * checks a share of the claims, and gathers all outputs in the store. A killed process can restart with any store: the
 * chain shows the posted jobs, by salts. Two simultaneous dispatchers with separate stores may post a part twice. An
 * outage of the nodes is waited out at any point.
 * @throws DispatchInputError, DispatchBudgetError, ShortOfFundsError, InsufficientGasFundsError before anything is
 *   sent; DispatchUnfinishedError, DispatchJoinError; the errors of `checkJob` and `postJob`; the signal's reason
 */
export const dispatch = (options: DispatchOptions): Promise<void> => new Dispatcher(options).run();

/** A role with the duties of a requester of a batch. The role ends with the batch, or with an error. */
class Dispatcher {
  readonly #options: DispatchOptions;
  readonly #role: Role<WatcherEvent>;
  readonly #parts: Parts;
  readonly #disputes: Disputes;
  readonly #duties: readonly Duty[];
  readonly #end = new AbortController();
  #failure: { error: unknown } | undefined;
  #isOut = false;
  /** Whether the jobs on the chain are known, and the account can pay for the rest. */
  #isReady = false;
  #hasAdopted = false;

  constructor(options: DispatchOptions) {
    const { session, batch, execute, intervalMs, signal = this.#end.signal } = options;
    this.#options = options;
    const role = {
      ...{ session, programs: ProgramLibrary.of([batch.program]), execute, intervalMs, log: SILENT },
      signal: AbortSignal.any([signal, this.#end.signal]),
      onRound: (outcome: "done" | "failed", error?: unknown) => this.#onRound(outcome, error),
    };
    this.#role = new Role("dispatcher", role, watcherLine);
    this.#parts = new Parts(options, (error) => this.#fail(error));
    const paying = inTurn();
    this.#disputes = new Disputes(role, this.#role, paying);
    // A claim is drawn for its check before the claim is made final, and bonds of disputes come before posts.
    const duties = [
      new Checking(options, this.#parts, this.#disputes),
      new Following(options, this.#parts, paying),
      new Posting(options, this.#parts, this.#disputes, paying),
    ];
    const beginning = { forget: this.#parts.forget, round: this.#begin };
    this.#duties = [this.#disputes.watching, beginning, ...duties.map((duty) => this.#onceReady(duty))];
  }

  async run(): Promise<void> {
    const { session, store, signal, intervalMs, onOutage, onEvent } = this.#options;
    requireSecret(this.#options);
    // SAFETY: without what was written down, jobs that are on their way are not known before they are mined.
    if (store.attempts().length === 0) await waitUntilMined(session, { signal, intervalMs, onOutage });
    if (this.#parts.areDone) return;
    await this.#role.run({
      facts: {},
      needsPlainAccountTo: "dispute wrong claims",
      markets: [{ session, duties: this.#duties }],
    });
    for (const claim of this.#disputes.left) onEvent?.({ kind: "disputeLeft", claim });
    if (this.#failure !== undefined) throw this.#failure.error;
    if (!this.#parts.areDone) signal?.throwIfAborted();
  }

  #onceReady(duty: Duty): Duty {
    const round: Duty["round"] = (...args) => (this.#isReady ? duty.round(...args) : undefined);
    return { forget: duty.forget, round };
  }

  /** Looks at the parts. Before the first look, learns what is on the chain, and whether the account can pay. */
  readonly #begin = (snapshot: RoundSnapshot, start: Start): void => {
    if (this.#isReady) return this.#parts.look(snapshot);
    const { session, batch, terms, place } = this.#options;
    if (!this.#hasAdopted) this.#adopt(snapshot, start);
    this.#parts.start(start, "required funds", async () => {
      await requireFunds(session, batch, this.#parts.unposted, terms, this.#parts.committed, place !== undefined);
      this.#isReady = true;
    });
  };

  #adopt(snapshot: RoundSnapshot, start: Start): void {
    const { session, store } = this.#options;
    this.#parts.adopt(snapshot);
    this.#hasAdopted = true;
    const jobs = ownJobs(snapshot.history.jobs, session.sender.address);
    for (const { part, attempt, terms } of this.#parts.attempts()) {
      const job = jobs.get(terms.salt);
      if (job === undefined) continue;
      this.#parts.start(start, `spending ${part} ${attempt}`, async () => {
        // The receipts are only for statistics: a node without old events leaves them out.
        const receipts = await postingReceipts(session, job.id).catch(() => []);
        for (const { transactionHash, gasUsed, effectiveGasPrice } of receipts)
          store.spent(part, attempt, transactionHash, Number(gasUsed), gasUsed * effectiveGasPrice);
      });
    }
  }

  /** Ends the role with the batch, or with an error of a round that is no outage. */
  #onRound(outcome: "done" | "failed", thrown: unknown): void {
    const { onOutage } = this.#options;
    if (outcome === "done") {
      if (this.#isOut) onOutage?.(undefined);
      this.#isOut = false;
      if (this.#parts.areDone) this.#end.abort();
      return;
    }
    const error = translateError(thrown, "reading the chain");
    if (!isOutage(error)) return this.#fail(error);
    if (!this.#isOut) onOutage?.(error);
    this.#isOut = true;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#end.abort();
  }
}
