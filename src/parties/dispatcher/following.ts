import type { Hex } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import type { inTurn } from "../../base/inTurn.ts";
import { ensureCredit } from "../../chain/market/deposit.ts";
import type { Forget } from "../../chain/market/forget.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { postJob, publishInputs } from "../requester/postJob.ts";
import type { Duty, RoundSnapshot, Start } from "../role/role.ts";
import { isInTime } from "./attempts.ts";
import { hasInputs, inputsOf } from "./chainedParts.ts";
import { nextFee, type DispatchOptions } from "./options.ts";
import { isLeft, isWanted } from "./partState.ts";
import type { Looked, Parts } from "./parts.ts";
import type { Attempt } from "./store.ts";

/** A dispatcher's duty towards its jobs: it brings each job on the way to an end. */
export class Following implements Duty {
  readonly forget: Forget;
  readonly #options: DispatchOptions;
  readonly #parts: Parts;
  readonly #paying: ReturnType<typeof inTurn>;
  /** By salt, since when (the chain's time) a job is seen open. */
  readonly #openSince = new Map<Hex, bigint>();

  /** @param paying Queue in which actions that change the account's credit wait for each other. */
  constructor(options: DispatchOptions, parts: Parts, paying: ReturnType<typeof inTurn>) {
    [this.#options, this.#parts, this.#paying] = [options, parts, paying];
    this.forget = parts.forget;
  }

  /** Does what each part's job asks for. */
  readonly round = ({ now }: RoundSnapshot, start: Start): void => {
    for (const one of this.#parts.current) if (one.last !== undefined) this.#follow(one, one.last, now, start);
  };

  #follow({ part, record, state }: Looked, last: Attempt, now: bigint, start: Start): void {
    if (state.kind !== "open") this.#openSince.delete(last.terms.salt);
    const { onEvent, openSeconds, terms, batch } = this.#options;
    const about = { part: part.number, attempt: last.attempt };
    const hasThem = hasInputs(batch, this.#options.store, part);
    const inputs = (): readonly Uint8Array[] => inputsOf(batch, this.#options.store, part);
    switch (state.kind) {
      case "unseen":
        // The job did not reach the chain: the same job is sent again. The market takes a job once.
        if (!isInTime(last, now) || !hasThem) return;
        return this.#parts.send(start, last, async (session) => {
          // The deposit for the job may have been spent elsewhere meanwhile.
          await this.#paying(() => ensureCredit(session, last.terms.fee, last.terms.fee));
          await postJob(session, batch.description, inputs(), last.terms);
          onEvent?.({ kind: "posted", ...about, fee: last.terms.fee });
        });
      case "awaitingInput":
        if (!hasThem) return;
        return this.#parts.send(start, last, (session) =>
          publishInputs(session, batch.description, inputs(), record!.job),
        );
      case "open": {
        const since = getOrAdd(this.#openSince, last.terms.salt, () => now);
        const pays = nextFee(terms, last.terms.fee, isWanted(record));
        if (now - since < BigInt(openSeconds) || pays <= last.terms.fee || !this.#parts.mayTryAgain(part)) return;
        return this.#parts.send(start, last, async ({ market }) => {
          await market.cancel(record!.job);
          onEvent?.({ kind: "cancelled", ...about });
        });
      }
      case "late":
        return this.#parts.send(start, last, async ({ market }) => {
          await market.expire(record!.job);
          onEvent?.({ kind: "expired", ...about });
        });
      case "due":
        return this.#makeFinal(last, state.claim, now, start);
      case "closed":
        return this.#noteRefund(last, record!, start);
      default:
    }
  }

  /** Makes a claim final after the window, unless the claim is wrong or a check is running. */
  #makeFinal(last: Attempt, record: ClaimRecord, now: bigint, start: Start): void {
    const outcome = this.#options.store.check(record.id);
    if (!isLeft(record, now) || outcome === "drawn" || outcome === "wrong") return;
    this.#parts.send(start, last, async ({ market }) => void (await market.finalise(record.claim)));
  }

  #noteRefund(last: Attempt, { job }: JobRecord, start: Start): void {
    if (last.refund !== undefined) return;
    this.#parts.send(start, last, async ({ market }) => this.#parts.refund(last, (await market.refundOf(job)) ?? 0n));
  }
}
