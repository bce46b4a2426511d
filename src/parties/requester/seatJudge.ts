import type { Hex } from "viem";
import { Disputes, type DisputesOptions, type Undisputed } from "../../../watcher/disputes.ts";
import type { WatcherEvent } from "../../../watcher/events.ts";
import type { ClaimRecord } from "../../chain/market/history.ts";

/** What is known here about claims on a panel's seats. */
export type SeatVerdict = {
  /** The root by this process's own execution; undefined until the question was executed. */
  right: Hex | undefined;
  /** Wrong claims without a game, or a claim that could not be judged, and why. */
  undisputed: readonly Undisputed[];
};

/**
 * Judges the claims on a panel's seats by an execution on this machine, and disputes the wrong claims as a watcher
 * does. One claim is executed first. Its root, or the root found instead, decides about all other claims.
 */
export class SeatJudge {
  readonly #disputes: Disputes;
  #right: Hex | undefined;
  /** The claim that was not judged, and why. */
  #unjudged: Undisputed | undefined;

  /** @param options The bonds come from the account's credit, and from its tokens if the credit is too low. */
  constructor(options: DisputesOptions) {
    const onEvent = (event: WatcherEvent): void => {
      this.#learn(event);
      options.onEvent?.(event);
    };
    this.#disputes = new Disputes({ ...options, onEvent });
  }

  /**
   * Judges claims that are at odds. Called in each round: bonds return, and missing funds or inputs may arrive.
   * @param now The chain's time, unix seconds.
   */
  async tend(claims: readonly ClaimRecord[], now: bigint): Promise<SeatVerdict> {
    const live = claims.filter(({ refuted, finalised, accepted }) => !refuted && !finalised && !accepted);
    const disputable = live.filter(({ windowEnd, games }) => now <= windowEnd || games.length > 0);
    const right = this.#right;
    if (right !== undefined) {
      const wrong = disputable.filter(({ claim }) => claim.root !== right);
      return { right, undisputed: (await this.#disputes.tend(wrong)).undisputed };
    }
    const [candidate] = disputable;
    if (candidate !== undefined) this.#disputes.judge(candidate);
    const why = "the window ended before the question was executed here";
    const late = disputable.length > 0 ? [] : live.map(({ id }) => ({ claim: id, why }));
    return { right, undisputed: this.#unjudged === undefined ? late : [this.#unjudged] };
  }

  /** Ends the watcher. Games that are open go on without this process. */
  end(): Promise<void> {
    return this.#disputes.end();
  }

  #learn(event: WatcherEvent): void {
    if (event.kind === "unknown") this.#unjudged = { claim: event.claimId, why: event.reason };
    if (event.kind === "agrees") this.#right = event.root;
    if (event.kind === "differs") this.#right = event.own;
  }
}
