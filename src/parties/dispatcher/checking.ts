import type { Hex } from "viem";
import type { Disputes } from "../../../watcher/disputes.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import type { Forget } from "../../chain/market/forget.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import type { Duty, RoundSnapshot, Start } from "../role/role.ts";
import type { BatchPart } from "./batch.ts";
import { requireJoin } from "./chainedParts.ts";
import { Checks } from "./checks.ts";
import type { DispatchOptions } from "./options.ts";
import { PartOutputs } from "./partOutputs.ts";
import { isLeft } from "./partState.ts";
import type { Looked, Parts } from "./parts.ts";

/** Parts whose outputs are fetched at a time. */
const FETCHES = 4;

/**
 * A dispatcher's duty towards claims: it checks a share of them, has wrong ones disputed, and gathers the outputs of
 * the others in the store.
 */
export class Checking implements Duty {
  readonly forget: Forget;
  readonly #options: DispatchOptions;
  readonly #parts: Parts;
  readonly #disputes: Disputes;
  readonly #outputs: PartOutputs;
  readonly #checks: Checks;
  readonly #fetching = new Set<number>();
  /** By claim, the time (milliseconds) since which the claim is final without all bytes. */
  readonly #withoutBytes = new Map<Hex, number>();

  constructor(options: DispatchOptions, parts: Parts, disputes: Disputes) {
    const { batch, store, urls } = options;
    [this.#options, this.#parts, this.#disputes] = [options, parts, disputes];
    this.#outputs = new PartOutputs(batch, store, urls);
    this.#checks = new Checks(options, this.#outputs);
    this.forget = parts.forget;
  }

  /** @throws DispatchJoinError, DatabaseAccessError */
  readonly round = ({ now }: RoundSnapshot, start: Start): void => {
    for (const one of this.#parts.current) this.#take(one, now, start);
    this.#dispute(start);
  };

  #take({ part, record, state }: Looked, now: bigint, start: Start): void {
    const { store } = this.#options;
    this.#report(part, record);
    if (state.kind === "final") return this.#takeResult(part, record!, state.claim, start);
    if (state.kind !== "submitted" && state.kind !== "due") return;
    this.#check(part, state.claim, start);
    const outcome = store.check(state.claim.id);
    if (outcome !== "wrong") return this.#fetch(part, record!, state.claim, start);
    // Nobody can dispute it any more. Its outputs are computed here; others may have it paid.
    if (state.kind === "due" && isLeft(state.claim, now)) this.#takeResult(part, record!, state.claim, start);
  }

  /** Has the claims disputed that a check found wrong. */
  #dispute(start: Start): void {
    const { store, onEvent } = this.#options;
    const wrong = this.#parts.looked.flatMap(({ part, state }) =>
      state.kind === "submitted" && store.check(state.claim.id) === "wrong" ? [{ part, claim: state.claim }] : [],
    );
    this.#disputes.take(wrong.map(({ claim }) => claim));
    if (wrong.length === 0) return;
    this.#parts.start(start, "disputes", async () => {
      for (const { claim, why } of await this.#disputes.tend()) {
        const found = wrong.find((one) => one.claim.id === claim);
        if (found !== undefined && this.#parts.isNew(`undisputed ${claim}`))
          onEvent?.({ kind: "undisputed", part: found.part.number, claim, why });
      }
    });
  }

  #check(part: BatchPart, claim: ClaimRecord, start: Start): void {
    const check = this.#checks.take(part, claim);
    if (check !== undefined) this.#parts.start(start, `check ${claim.id}`, check);
  }

  /** Takes the bytes of a final claim: delivered on chain, or from its worker; or computes them here. */
  #takeResult(part: BatchPart, record: JobRecord, claim: ClaimRecord, start: Start): void {
    const { store } = this.#options;
    this.#check(part, claim, start);
    const outcome = store.check(claim.id);
    if (outcome === undefined || outcome === "drawn") return;
    if (outcome === "wrong" && !store.isComputed(claim.id)) return this.#compute(part, claim, start);
    if (outcome !== "wrong") this.#outputs.takeDelivered(part, claim);
    if (this.#outputs.missing(part, claim.id).length === 0) return this.#finish(part, claim);
    this.#fetch(part, record, claim, start);
    this.#computeIfWithheld(part, claim, start);
  }

  #fetch(part: BatchPart, record: JobRecord, claim: ClaimRecord, start: Start): void {
    const { urls, signal } = this.#options;
    if (urls.length === 0 || this.#fetching.size >= FETCHES) return;
    this.#parts.start(start, `outputs of part ${part.number}`, async () => {
      this.#fetching.add(part.number);
      await this.#outputs.fetch(part, record, claim, signal).finally(() => this.#fetching.delete(part.number));
    });
  }

  #computeIfWithheld(part: BatchPart, claim: ClaimRecord, start: Start): void {
    const { withheldSeconds, onEvent } = this.#options;
    const since = getOrAdd(this.#withoutBytes, claim.id, () => performance.now());
    if (performance.now() - since < withheldSeconds * 1_000) return;
    if (this.#parts.isNew(`withheld ${claim.id}`))
      onEvent?.({ kind: "withheld", part: part.number, worker: claim.claim.worker });
    this.#compute(part, claim, start);
  }

  #compute(part: BatchPart, claim: ClaimRecord, start: Start): void {
    this.#parts.start(start, `compute ${part.number}`, () => this.#checks.compute(part, claim));
  }

  /** Finishes a part with complete local bytes under a final claim. */
  #finish(part: BatchPart, record: ClaimRecord): void {
    const { store, batch, onEvent } = this.#options;
    const { claim, finalised, paid, jobId, id } = record;
    requireJoin(batch, store, part, id);
    if (finalised && claim.job.deliverables !== 0n && !paid)
      onEvent?.({ kind: "undelivered", part: part.number, worker: claim.worker, job: jobId });
    this.#parts.finish(part, record, this.#outputs.source(part, record));
  }

  #report(part: BatchPart, record: JobRecord | undefined): void {
    const { onEvent } = this.#options;
    for (const { id, claim, refuted } of record?.claims ?? []) {
      const about = { part: part.number, worker: claim.worker, claim: id };
      if (this.#parts.isNew(`submitted ${id}`)) onEvent?.({ kind: "submitted", ...about });
      if (refuted && this.#parts.isNew(`refuted ${id}`)) onEvent?.({ kind: "refuted", ...about });
    }
  }
}
