import type { Hex } from "viem";

/** The pause after a delivery that failed, seconds; it doubles with each further failure, up to the longest. */
const FIRST_PAUSE_SECONDS = 60n;
const LONGEST_PAUSE_SECONDS = 6n * 3_600n;
/**
 * Number of passing failures (a node gave no answer, a reorganisation removed the transaction) after which a claim's
 * deliveries are tried again at once. More failures are no accident: a pool may accept a transaction without ever
 * passing the transaction on.
 */
const FREE_FAILURES = 3;
/** How long after its claim became final the market gives the fee back to the requester: `DELIVERY_SECONDS`. */
const RECLAIM_SECONDS = 7n * 86_400n;
/** The final part of `RECLAIM_SECONDS`: a delivery needs this time to enter a block before the fee is gone. */
const SPARE_SECONDS = 3_600n;

type Failures = { last: bigint; pause: bigint; free: number };

/**
 * Whether it is too late to deliver: the requester can have the fee back, or soon can.
 * @param finalSince When the claim became final, unix seconds.
 */
export const isTooLate = (finalSince: bigint, now: bigint): boolean =>
  now >= finalSince + RECLAIM_SECONDS - SPARE_SECONDS;

/**
 * The times for retrying a claim's failed deliveries: ever more rarely. The claim's deliveries wait together, because
 * the last delivery brings the fee. Times are the chain's, unix seconds. A restarted process begins anew.
 */
export class Deliveries {
  /** By claim. */
  readonly #failures = new Map<Hex, Failures>();
  readonly #givenUp = new Set<Hex>();

  /** Whether the outputs of a claim may be delivered now. */
  isDue(claimId: Hex, now: bigint): boolean {
    if (this.#givenUp.has(claimId)) return false;
    const failures = this.#failures.get(claimId);
    return failures === undefined || now >= failures.last + failures.pause;
  }

  /** Whether a delivery of the claim has failed. */
  hasFailed(claimId: Hex): boolean {
    return this.#failures.has(claimId);
  }

  /**
   * Takes note of a failure.
   * @param mayPass Whether the same may succeed at once.
   * @returns When the claim's deliveries are tried again: at once, or after a pause.
   */
  failed(claimId: Hex, now: bigint, mayPass: boolean): "again" | "later" {
    const { pause, free } = this.#failures.get(claimId) ?? { pause: 0n, free: FREE_FAILURES };
    if (mayPass && free > 0) {
      this.#failures.set(claimId, { last: now, pause, free: free - 1 });
      return "again";
    }
    const doubled = pause === 0n ? FIRST_PAUSE_SECONDS : 2n * pause;
    const next = doubled < LONGEST_PAUSE_SECONDS ? doubled : LONGEST_PAUSE_SECONDS;
    this.#failures.set(claimId, { last: now, pause: next, free });
    return "later";
  }

  /** Takes note that the claim's outputs are not delivered any more. */
  giveUp(claimId: Hex): void {
    this.#givenUp.add(claimId);
  }

  /** Returns true if the claim's outputs were given up: no delivery by the process will earn the fee. */
  hasGivenUp(claimId: Hex): boolean {
    return this.#givenUp.has(claimId);
  }

  /** Forgets claims that the history lacks. */
  forget(known: ReadonlyMap<Hex, unknown>): void {
    for (const ids of [this.#failures, this.#givenUp]) for (const id of ids.keys()) if (!known.has(id)) ids.delete(id);
  }
}
