import type { Disputes } from "../../../watcher/disputes.ts";
import type { inTurn } from "../../base/inTurn.ts";
import { ShortOfFundsError } from "../../chain/errors.ts";
import { ensureCredit } from "../../chain/market/deposit.ts";
import type { Forget } from "../../chain/market/forget.ts";
import { packInputs, postJob } from "../requester/postJob.ts";
import type { Duty, RoundSnapshot, Start } from "../role/role.ts";
import { nextAttempt } from "./attempts.ts";
import type { BatchPart } from "./batch.ts";
import { hasInputs, inputsOf } from "./chainedParts.ts";
import { nextFee, type DispatchOptions } from "./options.ts";
import { isWanted } from "./partState.ts";
import type { Looked, Parts } from "./parts.ts";
import { requireProgress } from "./progress.ts";
import type { Attempt } from "./store.ts";

type Chosen = { part: BatchPart; inputs: readonly Uint8Array[]; attempt: Attempt };

/** A dispatcher's duty towards parts without a job: it posts them, up to the limit on open jobs, within the budget. */
export class Posting implements Duty {
  readonly forget: Forget;
  readonly #options: DispatchOptions;
  readonly #parts: Parts;
  readonly #disputes: Disputes;
  readonly #paying: ReturnType<typeof inTurn>;

  /** @param paying Queue in which actions that change the account's credit wait for each other. */
  constructor(options: DispatchOptions, parts: Parts, disputes: Disputes, paying: ReturnType<typeof inTurn>) {
    [this.#options, this.#parts, this.#disputes, this.#paying] = [options, parts, disputes, paying];
    this.forget = parts.forget;
  }

  /** @throws DispatchUnfinishedError or DispatchBudgetError if nothing is under way, and nothing can be */
  readonly round = ({ now }: RoundSnapshot, start: Start): void => {
    const { looked } = this.#parts;
    const without = looked.filter((one) => this.#parts.needsJob(one, now));
    const open = looked.length - without.length;
    const { batch, store } = this.#options;
    const wanted = without.filter(({ part }) => hasInputs(batch, store, part));
    // The refund must be known before paying more.
    const known = wanted.filter(({ state, last }) => state.kind !== "closed" || last?.refund !== undefined);
    const chosen = this.#choose(known, this.#options.openJobs - open, now);
    if (chosen.length > 0) return this.#parts.start(start, "posting", () => this.#post(chosen, start));
    if (open === 0 && known.length === wanted.length && this.#parts.isIdle)
      requireProgress(this.#options, this.#parts.done, this.#parts.failed, this.#parts.committed);
  };

  #choose(wanted: readonly Looked[], room: number, now: bigint): Chosen[] {
    const { batch, store, terms } = this.#options;
    const chosen: Chosen[] = [];
    for (const { last, state } of wanted)
      if (last !== undefined && state.kind === "unseen") this.#parts.refund(last, last.terms.fee);
    let { committed } = this.#parts;
    for (const { part, last, record, state } of wanted) {
      if (chosen.length >= room) break;
      if (last !== undefined && !this.#parts.mayTryAgain(part)) {
        this.#parts.failed.add(part.number);
        continue;
      }
      const fee = nextFee(terms, last?.terms.fee, state.kind === "unseen" || isWanted(record));
      if (committed + fee > terms.budget) continue;
      committed += fee;
      const inputs = inputsOf(batch, store, part);
      chosen.push({ part, inputs, attempt: nextAttempt(batch, part, terms, { last, fee, now }) });
    }
    return chosen;
  }

  async #post(chosen: readonly Chosen[], start: Start): Promise<void> {
    const { batch, session, terms, onEvent } = this.#options;
    const { bonds } = this.#disputes;
    const needed = bonds + chosen.reduce((sum, { attempt }) => sum + attempt.terms.fee, 0n);
    const later = this.#parts.unposted.length - chosen.filter(({ attempt }) => attempt.attempt === 0).length;
    try {
      await this.#paying(() => ensureCredit(session, needed, needed + BigInt(later) * terms.fee));
    } catch (error) {
      // Bonds come back, and then there is more.
      if (error instanceof ShortOfFundsError && this.#disputes.left.length > 0) return;
      throw error;
    }
    for (const { part, inputs, attempt: plain } of chosen) {
      const attempt = await this.#placed(inputs, part.items, plain);
      this.#parts.begin(attempt);
      this.#parts.send(start, attempt, async (own) => {
        await postJob(own, batch.description, inputs, attempt.terms);
        onEvent?.({ kind: "posted", part: part.number, attempt: attempt.attempt, fee: attempt.terms.fee });
      });
    }
  }

  /** Adds places to an attempt if inputs stay off the chain. */
  async #placed(inputs: readonly Uint8Array[], items: number, attempt: Attempt): Promise<Attempt> {
    const { batch, place } = this.#options;
    if (place === undefined) return attempt;
    const references = await place(packInputs(batch.description, inputs, items), `${attempt.terms.salt.slice(2)}.bin`);
    return { ...attempt, terms: { ...attempt.terms, references } };
  }
}
