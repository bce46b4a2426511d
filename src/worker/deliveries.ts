import type { Hex } from "viem";

/** The pause after a delivery that failed, seconds; it doubles with each further failure, up to the longest. */
const FIRST_PAUSE_SECONDS = 60n;
const LONGEST_PAUSE_SECONDS = 6n * 3_600n;
/**
 * Failures that may pass by themselves (a reorganisation took the transaction back, a node gave no answer) and that are
 * tried again at once. More of them are no accident: a pool may take a transaction that it never passes on.
 */
const FREE_FAILURES = 3;
/**
 * How long after its first failure a delivery is given up: a week. By then the requester had the time to fetch the
 * output elsewhere and to accept it, and a node's limits or an outage had the time to be mended.
 */
const GIVE_UP_SECONDS = 7n * 86_400n;

type Failures = { first: bigint; last: bigint; pause: bigint; free: number };

/**
 * When deliveries that failed are tried again: ever more rarely, and at last no more. Times are the chain's, unix
 * seconds. A process that is started again begins anew.
 */
export class Deliveries {
  /** By claim, then by output. */
  readonly #failures = new Map<Hex, Map<number, Failures>>();

  /** Whether an output may be tried now. */
  isDue(claimId: Hex, output: number, now: bigint): boolean {
    const failures = this.#failures.get(claimId)?.get(output);
    return failures === undefined || (!isGivenUp(failures) && now >= failures.last + failures.pause);
  }

  /**
   * Takes note of a failure.
   * @param mayPass Whether the same may succeed at once.
   * @returns What comes of it: another try at once, one after a pause, or none.
   */
  failed(claimId: Hex, output: number, now: bigint, mayPass: boolean): "again" | "later" | "givenUp" {
    const ofClaim = this.#failures.get(claimId) ?? new Map<number, Failures>();
    this.#failures.set(claimId, ofClaim);
    const { first, pause, free } = ofClaim.get(output) ?? { first: now, pause: 0n, free: FREE_FAILURES };
    if (mayPass && free > 0 && now - first < GIVE_UP_SECONDS) {
      ofClaim.set(output, { first, last: now, pause, free: free - 1 });
      return "again";
    }
    const doubled = pause === 0n ? FIRST_PAUSE_SECONDS : 2n * pause;
    const failures = {
      first,
      last: now,
      pause: doubled < LONGEST_PAUSE_SECONDS ? doubled : LONGEST_PAUSE_SECONDS,
      free,
    };
    ofClaim.set(output, failures);
    return isGivenUp(failures) ? "givenUp" : "later";
  }

  /** Whether an output of the claim was given up: its fee will not come by a delivery of this process. */
  hasGivenUp(claimId: Hex): boolean {
    return [...(this.#failures.get(claimId)?.values() ?? [])].some(isGivenUp);
  }

  /** Forgets claims that the history lacks. */
  forget(known: ReadonlyMap<Hex, unknown>): void {
    for (const id of this.#failures.keys()) if (!known.has(id)) this.#failures.delete(id);
  }
}

const isGivenUp = ({ first, last }: Failures): boolean => last - first >= GIVE_UP_SECONDS;
