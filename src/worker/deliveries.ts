import type { Hex } from "viem";

/** The pause after a delivery that failed, seconds; it doubles with each further failure, up to the longest. */
const FIRST_PAUSE_SECONDS = 60n;
const LONGEST_PAUSE_SECONDS = 6n * 3_600n;
/**
 * How long after its first failure a delivery is given up: a week. By then the requester had the time to fetch the
 * output elsewhere and to accept it, and a node's limits or an outage had the time to be mended.
 */
const GIVE_UP_SECONDS = 7n * 86_400n;

type Failures = { first: bigint; last: bigint; pause: bigint };

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

  /** Takes note of a failure. @returns Whether the output is given up with it. */
  failed(claimId: Hex, output: number, now: bigint): boolean {
    const ofClaim = this.#failures.get(claimId) ?? new Map<number, Failures>();
    this.#failures.set(claimId, ofClaim);
    const before = ofClaim.get(output);
    const doubled = before === undefined ? FIRST_PAUSE_SECONDS : 2n * before.pause;
    const pause = doubled < LONGEST_PAUSE_SECONDS ? doubled : LONGEST_PAUSE_SECONDS;
    const failures = { first: before?.first ?? now, last: now, pause };
    ofClaim.set(output, failures);
    return isGivenUp(failures);
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
