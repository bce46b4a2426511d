import type { Hex } from "viem";
import { Disputes, type Undisputed } from "../../../watcher/disputes.ts";
import type { WatcherEvent } from "../../../watcher/events.ts";
import type { WatcherOptions } from "../../../watcher/options.ts";
import { watcherLine } from "../../../watcher/watcher.ts";
import { RefuteError } from "../../base/errors.ts";
import { SILENT } from "../../base/log.ts";
import { isOpen, type ClaimRecord, type JobRecord } from "../../chain/market/history.ts";
import { Role } from "../role/role.ts";

/** The local knowledge about claims on a panel's seats, for judging. */
export type SeatVerdict = {
  /** The root by this process's own execution; undefined until the question was executed. */
  right: Hex | undefined;
  /** Wrong claims without a game, or a claim that could not be judged, and why. */
  undisputed: readonly Undisputed[];
};

/** What executes the question and pays for disputes. */
type SeatJudgeOptions = Pick<WatcherOptions, "session" | "programs" | "execute" | "intervalMs"> &
  Partial<Pick<WatcherOptions, "heldInputs" | "log" | "onEvent">>;

/**
 * Judges the claims on a panel's seats by an execution on this machine, and disputes the wrong claims as a watcher
 * does. One claim is executed first. Its root, or the root found instead, decides about all other claims. After the
 * windows of all claims, the question is executed without a dispute: the right claim is to be finalised.
 */
export class SeatJudge {
  readonly #session: WatcherOptions["session"];
  readonly #role: Role<WatcherEvent>;
  readonly #disputes: Disputes;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #right: Hex | undefined;
  /** The claim that was not judged, and why. */
  #unjudged: Undisputed | undefined;
  /** The execution after the windows; it is begun once. */
  #executing: Promise<void> | undefined;
  #late = "the window ended before the question was executed here";

  /** @param options The bonds come from the account's credit, and from its tokens if the credit is too low. */
  constructor({ log = SILENT, ...options }: SeatJudgeOptions) {
    const onEvent = (event: WatcherEvent): void => {
      this.#learn(event);
      options.onEvent?.(event);
    };
    const role = { ...options, log, onEvent, signal: this.#stop.signal };
    this.#session = options.session;
    this.#role = new Role("watcher", role, watcherLine);
    this.#disputes = new Disputes(role, this.#role);
  }

  /**
   * Judges claims that are at odds. Called in each round: bonds return, and missing funds or inputs may arrive.
   * @param now The chain's time, unix seconds.
   * @param seats The jobs of the claims.
   */
  async tend(claims: readonly ClaimRecord[], now: bigint, seats: readonly JobRecord[]): Promise<SeatVerdict> {
    this.#running ??= this.#run();
    const live = claims.filter(isOpen);
    const disputable = live.filter(({ windowEnd, games }) => now <= windowEnd || games.length > 0);
    const right = this.#right;
    if (right !== undefined) {
      const wrong = disputable.filter(({ claim }) => claim.root !== right);
      this.#disputes.take(wrong);
      return { right, undisputed: await this.#disputes.tend() };
    }
    const inTime = live.find(({ windowEnd }) => now <= windowEnd);
    // A watcher judges no claim after the window, but goes on with games.
    const candidate = inTime ?? disputable[0];
    const problem = candidate && (await this.#disputes.judge(candidate));
    const job = inTime === undefined ? seats.find(({ id }) => id === live[0]?.jobId) : undefined;
    if (job !== undefined && this.#role.executions.canExecute(job)) this.#executing ??= this.#execute(job);
    if (problem !== undefined) return { right, undisputed: [problem] };
    const late = disputable.length > 0 ? [] : live.map(({ id }) => ({ claim: id, why: this.#late }));
    return { right, undisputed: this.#unjudged === undefined ? late : [this.#unjudged] };
  }

  /** Ends the watcher. Games that are open go on without this process. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#executing;
  }

  #run(): Promise<void> {
    const markets = [{ session: this.#session, duties: [this.#disputes.watching] }];
    return this.#role.run({ facts: {}, needsPlainAccountTo: "dispute wrong claims", markets });
  }

  /** Executes a seat's job: its root decides about all claims. */
  async #execute(job: JobRecord): Promise<void> {
    try {
      const root = (await this.#role.executions.of(job))?.root;
      this.#right ??= root;
      this.#role.executions.drop(job);
    } catch (error) {
      this.#late = `the window ended, and the question could not be executed here: ${(error as Error).message}`;
      if (error instanceof RefuteError && error.retryable) this.#executing = undefined;
    }
  }

  #learn(event: WatcherEvent): void {
    if (event.kind === "unknown") this.#unjudged = { claim: event.claimId, why: event.reason };
    if (event.kind === "agrees") this.#right = event.root;
    if (event.kind === "differs") this.#right = event.own;
  }
}
