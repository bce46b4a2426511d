import type { Hex, TransactionReceipt } from "viem";
import type { Forget } from "../market/forget.ts";
import type { History } from "../market/history.ts";
import { followMarket, type Session, type Snapshot } from "../market/session.ts";
import { Executions, type Execute } from "./executions.ts";
import { logError, runLoop, type LoopOptions } from "./loop.ts";
import { accountProblem, type NotPlainAccountError } from "./plainAccount.ts";
import type { ProgramLibrary } from "./programLibrary.ts";
import { Tasks } from "./tasks.ts";

/** How a worker or a watcher runs. */
export type RoleOptions<E> = LoopOptions & {
  session: Session;
  /** The programs that it knows, compiled here. More may come while it runs. */
  programs: ProgramLibrary;
  execute: Execute;
  /** Bytes of executions that are kept in memory. `KEPT_BYTES` if absent. */
  keptBytes?: number;
  /** Called with each thing found or done. */
  onEvent?: (event: E) => void;
  /** Called when the account was looked at. @param problem Why games cannot be played from it, if they cannot. */
  onAccount?: (problem: NotPlainAccountError | undefined) => void;
};

/** What happened, for logs and for programs that run a worker or a watcher. */
type RoleEvent = { kind: string; receipt?: TransactionReceipt };

/** How an event is logged. */
export type LogLine = { level: "info" | "warn" | "error"; message: string };

/** Starts an action beside the others, unless one of its key runs, or ran when the snapshot was taken. */
export type Start = (key: string, action: () => Promise<void>) => void;

/** What is known at the beginning of a round. */
export type RoundSnapshot = Snapshot & {
  /** Whether games can be played from the account; true for a role that plays none. */
  isPlain: boolean;
};

/** What sets a worker and a watcher apart. */
export type RoleRounds = {
  /** Of the role, for the log. */
  name: string;
  /** Logged at the start. */
  facts: object;
  /** What may be forgotten of a job. */
  forget: Forget;
  /** For the log, what is not done while the account is no plain one. Without it, the account's code is not read. */
  needsPlainAccountTo?: string | undefined;
  /** Starts what the snapshot asks for. It does not wait for it: an execution takes long, and clocks of games run. */
  round: (snapshot: RoundSnapshot, start: Start) => void;
};

/**
 * Reports that are remembered. If there are more, those on jobs, claims and games that the history lacks are forgotten,
 * and then the oldest.
 */
const MAX_REPORTED = 10_000;

/** What a worker and a watcher have in common: their rounds, their executions, and how they report. */
export class Role<E extends RoleEvent> {
  readonly executions: Executions;
  readonly #options: RoleOptions<E>;
  readonly #lineOf: (event: E) => LogLine;
  /** What the account was at a block. */
  #account: { blockNumber: bigint; isPlain: boolean } | undefined;
  /** What was reported last, by its kind and subject. */
  readonly #reported = new Map<string, { id: string; what: string }>();

  /** @param lineOf How an event is logged. */
  constructor(options: RoleOptions<E>, lineOf: (event: E) => LogLine) {
    const { programs, execute, keptBytes } = options;
    this.#options = options;
    this.#lineOf = lineOf;
    this.executions = new Executions(programs, execute, keptBytes);
  }

  /**
   * Runs rounds until the signal. Every round starts from the chain alone, so that the process may be stopped and
   * started again at any time.
   */
  async run({ name, facts, forget, needsPlainAccountTo, round }: RoleRounds): Promise<void> {
    const { session, programs, log } = this.#options;
    const follow = followMarket(session, forget);
    const tasks = new Tasks();
    log.info({ [name]: session.sender.address, ...facts, programs: programs.size }, `${name} starts`);
    await runLoop(this.#options, async () => {
      const busy = tasks.running;
      const snapshot = await follow();
      this.#forgetReported(snapshot.history);
      const isPlain = needsPlainAccountTo === undefined || (await this.#isPlain(snapshot, needsPlainAccountTo));
      round({ ...snapshot, isPlain }, (key, action) => {
        if (!busy.has(key)) tasks.start(key, action);
      });
    });
    await tasks.settled();
    log.info(`${name} stops`);
  }

  /**
   * Does one thing. Its failure does not keep others waiting: it is logged, and the next round tries it again. The same
   * failure in a row is logged once.
   * @param doing What is done, for the log.
   * @param kind With `id`, what the failure belongs to.
   */
  async attempt(doing: string, id: string, action: () => Promise<void>, kind = doing): Promise<void> {
    if (this.#options.signal.aborted) return;
    try {
      await action();
    } catch (error) {
      if (this.isNew(kind, id, (error as Error).message)) this.logError(error, doing);
    }
  }

  /**
   * Whether a thing differs from what was reported last of the same kind and subject. From then on it counts as
   * reported.
   */
  isNew(kind: string, id: string, what = ""): boolean {
    const key = `${kind} ${id}`;
    if (this.#reported.get(key)?.what === what) return false;
    // Behind all others: it is the last to be forgotten.
    this.#reported.delete(key);
    this.#reported.set(key, { id, what });
    return true;
  }

  /** Logs an event, if there is one, and hands it on. */
  report(event: E | undefined): void {
    if (event === undefined) return;
    const fields = Object.fromEntries(Object.entries(event).filter(([key]) => key !== "kind" && key !== "receipt"));
    const gas = event.receipt === undefined ? {} : { gas: Number(event.receipt.gasUsed) };
    const { level, message } = this.#lineOf(event);
    this.#options.log[level]({ ...fields, ...gas }, message);
    this.#options.onEvent?.(event);
  }

  /** Logs an error of an action. */
  logError(error: unknown, doing: string): void {
    logError(this.#options.log, error, doing);
  }

  /**
   * Whether the account is a plain one. A delegation may come at any time: whoever holds an authorisation that the key
   * signed, also one for chain 0, which holds on every chain, can have it included. It is looked for once a block.
   */
  async #isPlain({ blockNumber }: Snapshot, purpose: string): Promise<boolean> {
    const { session, log, onAccount } = this.#options;
    if (this.#account?.blockNumber === blockNumber) return this.#account.isPlain;
    const problem = await accountProblem(session);
    const isPlain = problem === undefined;
    const wasPlain = this.#account?.isPlain ?? true;
    this.#account = { blockNumber, isPlain };
    onAccount?.(problem);
    if (problem !== undefined && wasPlain)
      log.error({ code: problem.code, reason: problem.message }, `cannot ${purpose}: the account is no plain one`);
    if (isPlain && !wasPlain) log.info(`can ${purpose} again: the account is a plain one`);
    return isPlain;
  }

  #forgetReported({ jobs, claims, games }: History): void {
    if (this.#reported.size <= MAX_REPORTED) return;
    const isKnown = (id: Hex): boolean => jobs.has(id) || claims.has(id) || games.has(id);
    // A report without a subject is one of the role itself.
    const about = [...this.#reported].filter(([, { id }]) => id !== "");
    for (const [key, { id }] of about) if (!isKnown(id as Hex)) this.#reported.delete(key);
    for (const [key] of about) {
      if (this.#reported.size <= MAX_REPORTED) return;
      this.#reported.delete(key);
    }
  }
}
