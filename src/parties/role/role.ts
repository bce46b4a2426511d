import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TransactionReceipt } from "viem";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { Account } from "../../chain/clients/stakeVault.ts";
import { translateError } from "../../chain/translateError.ts";
import { ENGINE_FAULT } from "../../executor/errors.ts";
import { leastForgetful, type Forget } from "../../chain/market/forget.ts";
import { lastSecondOf } from "../../chain/market/clock.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { resumeFrom } from "../../chain/market/resume.ts";
import { followMarket, type Resume, type Session, type Snapshot } from "../../chain/market/session.ts";
import { Executions, type HeldInputs } from "../../runs/executions.ts";
import { ReferencedInputs, type ReferenceOptions } from "../../runs/inputs/referencedInputs.ts";
import { clocksOf, HeadAge, NO_METER, playFigures, type Meter } from "../../runs/figures.ts";
import { Health, problemOf, type Condition, type Problem } from "../../base/health.ts";
import { logError, runLoop, type LoopOptions } from "./loop.ts";
import { measured } from "../../runs/measured.ts";
import { accountProblem } from "./plainAccount.ts";
import type { ProgramLibrary } from "../../runs/programLibrary.ts";
import { Reports } from "./reports.ts";
import { StoredRuns, type RunShare } from "../../runs/storedRuns.ts";
import { Tasks } from "./tasks.ts";
import type { Execute } from "../../runs/execute.ts";

/** How a worker or a watcher runs. */
export type RoleOptions<E> = LoopOptions & {
  session: Session;
  /** The programs that it knows, compiled here. More may come while it runs. */
  programs: ProgramLibrary;
  execute: Execute;
  /** Maximum number of jobs executed at the same time, besides executions for games. Default 1. */
  atOnce?: number;
  /** Bytes of executions that are kept in memory. `KEPT_BYTES` if absent. */
  keptBytes?: number;
  /** Folder for data that saves a restart from reading or executing again. Without a folder nothing is kept on disk. */
  cacheFolder?: string;
  /** Maximum bytes in the folder for runs of the role and account. Default `STORED_BYTES`. */
  storedBytes?: number;
  /** Where runs are kept besides, for a machine that takes over; nowhere if absent. */
  sharedRuns?: RunShare | undefined;
  /** Local inputs for jobs that do not publish inputs. */
  heldInputs?: HeldInputs;
  /**
   * Options for fetching the inputs that jobs refer to, if no local inputs exist; without options nothing is fetched.
   */
  references?: ReferenceOptions | undefined;
  /** Called with each thing found or done. */
  onEvent?: (event: E) => void;
  /** Receives the role's readiness reports; by default the role creates its own object. */
  health?: Health;
  /** Takes what the role measures. */
  meter?: Meter;
  /** Returns the local time, unix seconds. The clock judges the head's age; without a clock the age is not judged. */
  clock?: () => number;
};

/** An event, for logs and for programs that run a worker or a watcher. */
type RoleEvent = { kind: string; receipt?: TransactionReceipt };

/** How an event is logged. */
export type LogLine = { level: "info" | "warn" | "error"; message: string };

/**
 * Starts an action in parallel, unless an action with the same key is running, or was running at the time of the
 * snapshot.
 */
export type Start = (key: string, action: () => Promise<void>) => void;

/** The facts known at the beginning of a round. */
export type RoundSnapshot = Snapshot & {
  /** Whether games can be played from the account; true for a role that plays none. */
  isPlain: boolean;
};

/** The account's funds, and the gas price in wei. */
export type Funds = Account & { balance: bigint; gasPrice: bigint };

/** A part of what a role does in a market. The parts of a worker and of a watcher may be in one role. */
export type Duty = {
  /** Conditions that the duty sets. They hold until the duty says otherwise. */
  conditions?: readonly Condition[];
  /** Decides what the duty allows to be forgotten about a job. */
  forget: Forget;
  /** Starts what the snapshot asks for. It does not wait for it: an execution takes long, and clocks of games run. */
  round: (snapshot: RoundSnapshot, start: Start) => void;
};

/** A market that a role follows. */
export type Followed = {
  session: Session;
  duties: readonly Duty[];
  /** A condition: the role reads the market, and `problem` finds nothing. */
  condition?: { name: Condition; problem: () => Problem | undefined };
};

/** The differences between a worker and a watcher. */
type RoleRounds = {
  /** Logged at the start. */
  facts: object;
  /** Markets with one account and sender. The first is that of the role's options: its vault is the role's purse. */
  markets: readonly Followed[];
  /** The duty, for the log, that a non-plain account leaves undone. If undefined, the account's code is not read. */
  needsPlainAccountTo?: string | undefined;
  /**
   * Reports whether the account can do its duties, and sets `pays`. Called every few rounds, in parallel with the
   * rounds. Absent in a role that sends nothing.
   */
  checkFunds?: ((funds: Funds, snapshot: Snapshot) => void | Promise<void>) | undefined;
};

/** Number of rounds between two reads of the account's funds, if a new block exists. */
const FUNDS_ROUNDS = 3;

/**
 * While less time is left in a game in which the account must move, seconds, the account's money and code are not read
 * again: a bad node counts requests, and demands pauses, which the move cannot afford.
 */
const SHORT_CLOCK = 60;

/** Returns the log fields of an event's transaction. */
const transactionFields = (receipt: TransactionReceipt | undefined): object =>
  receipt === undefined ? {} : { transactionHash: receipt.transactionHash, gas: Number(receipt.gasUsed) };

/** Returns the folder for a role's data: jobs belong to a deployment, and data for other deployments is deleted. */
function ownFolder(cache: string, kind: string, name: string, { deployment, publicClient, sender }: Session): string {
  const owner = [publicClient.chain.id, deployment.market, deployment.game, name, sender.address];
  return join(cache, `${kind}-${sha256(JSON.stringify(owner)).slice(0, 32)}`);
}

/** Returns all entries of maps with different keys. */
const merged = <K, V>(maps: readonly ReadonlyMap<K, V>[]): Map<K, V> =>
  maps.length === 1 ? (maps[0] as Map<K, V>) : new Map(maps.flatMap((map) => [...map]));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The common parts of a worker and a watcher: the rounds, the executions and the reports. */
export class Role<E extends RoleEvent> {
  readonly executions: Executions;
  /** The readiness of the process. */
  readonly health: Health;
  readonly meter: Meter;
  readonly #name: string;
  readonly #options: RoleOptions<E>;
  readonly #lineOf: (event: E) => LogLine;
  /** The account's kind at a block. */
  #account: { blockNumber: bigint; now: bigint; isPlain: boolean } | undefined;
  /** The last round in which the account's money was read. */
  #funds = { round: -Infinity, blockNumber: -1n, now: 0n };
  #rounds = 0;
  /** Whether a move of the account is due soon. */
  #isClockShort = false;
  #hasRead = false;
  readonly #head = new HeadAge();
  readonly #reports = new Reports();
  readonly #fetched: ReferencedInputs | undefined;
  readonly #held: HeldInputs | undefined;

  /**
   * @param name The role's name, for the log and the disk folder.
   * @param lineOf Returns the log line of an event.
   */
  constructor(name: string, options: RoleOptions<E>, lineOf: (event: E) => LogLine) {
    const { programs, execute, keptBytes, log, health = new Health(log), meter = NO_METER } = options;
    this.#name = name;
    this.#options = options;
    this.#lineOf = lineOf;
    this.health = health;
    this.meter = meter;
    const { session, cacheFolder, storedBytes: maxBytes, sharedRuns: share } = options;
    const folderOf = (kind: string) => cacheFolder && ownFolder(cacheFolder, kind, name, session);
    const stored = new StoredRuns({ folder: folderOf("runs"), maxBytes, share });
    const { references, heldInputs, signal } = options;
    const { parameters } = session.deployment;
    const at = {
      ...{ publicClient: session.publicClient, folder: folderOf("inputs"), log, meter, signal },
      knows: (job: JobRecord) => this.executions.knows(job),
      lastSecondOf: ({ job, terms }: JobRecord) =>
        lastSecondOf(job, BigInt((terms?.openFrom ?? 0) + parameters.baseClock), parameters),
    };
    this.#fetched = references && new ReferencedInputs(references, at);
    this.#held = heldInputs ?? this.#fetched;
    this.executions = new Executions(programs, measured(execute, health, meter), keptBytes, stored, this.#held);
  }

  /**
   * Runs rounds until the signal. Every round starts from the chain alone, so that the process may be stopped and
   * started again at any time.
   */
  async run({ facts, markets, needsPlainAccountTo, checkFunds }: RoleRounds): Promise<void> {
    const { session, programs, log } = this.#options;
    const name = this.#name;
    const followed = markets.map((market) => {
      const { session: reader, duties } = market;
      for (const condition of duties.flatMap(({ conditions = [] }) => conditions))
        this.health.set(condition, undefined);
      const follow = followMarket(reader, leastForgetful(duties.map(({ forget }) => forget)), this.#resume(reader));
      this.#setCondition(market, "it was not read yet");
      return { market, follow };
    });
    const latest: (Snapshot | undefined)[] = markets.map(() => undefined);
    const tasks = new Tasks();
    log.info({ [name]: session.sender.address, ...facts, programs: programs.size }, `${name} starts`);
    await runLoop(this.#options, async () => {
      const busy = tasks.running;
      const start: Start = (key, action) => {
        if (!busy.has(key)) tasks.start(key, action);
      };
      const read = await Promise.allSettled(followed.map(({ follow }) => follow()));
      for (const [k, one] of read.entries()) if (one.status === "fulfilled") latest[k] = one.value;
      for (const one of read) if (one.status === "fulfilled") session.sender.learnTime?.(Number(one.value.now));
      this.#keep(latest);
      if (latest[0] !== undefined) this.#checkEvents(latest[0]);
      const failures: unknown[] = [];
      for (const [k, one] of read.entries()) {
        const { market } = followed[k]!;
        try {
          if (one.status === "rejected") throw one.reason;
          const isPlain = needsPlainAccountTo === undefined || (await this.#isPlain(one.value, needsPlainAccountTo));
          for (const { round } of market.duties) round({ ...one.value, isPlain }, start);
          this.#setCondition(market);
        } catch (error) {
          // A market that cannot be read stops no clock in the others.
          failures.push(error);
          this.#setCondition(market, problemOf(error, "the last round failed").reason);
        }
      }
      start("runs on disk", () => this.attempt("keeping runs on disk", "", () => this.executions.stored.flush()));
      // After the round: the round's moves must not wait for the read.
      const [own] = read;
      if (own?.status === "fulfilled" && this.#areFundsDue(own.value))
        start("funds", () => this.attempt("reading the account", "", () => this.#readFunds(own.value, checkFunds)));
      if (failures.length > 0) throw failures[0];
    });
    await tasks.settled();
    await this.#fetched?.settled();
    log.info(`${name} stops`);
  }

  /** Sets a market's condition. @param unread Why the market was not read, if it was not. */
  #setCondition({ condition }: Followed, unread?: string): void {
    if (condition === undefined) return;
    this.health.set(condition.name, unread === undefined ? condition.problem() : { reason: unread });
  }

  /** Keeps only data about jobs that a market has. While a market was never read, its jobs are not known. */
  #keep(latest: readonly (Snapshot | undefined)[]): void {
    const known = latest.filter((one) => one !== undefined);
    if (known.length === 0) return;
    this.#measure(known);
    if (known.length < latest.length) return;
    const jobs = merged(known.map(({ history }) => history.jobs));
    this.#reports.forget({
      jobs,
      claims: merged(known.map(({ history }) => history.claims)),
      games: merged(known.map(({ history }) => history.games)),
    });
    // Results from a faulty engine are not kept for the next start.
    this.executions.stored.forget(this.isAtFault ? new Map() : jobs);
    this.#held?.keep?.(jobs);
  }

  /** Whether the engine was found to compute wrongly: then nothing is executed until a restart. */
  get isAtFault(): boolean {
    return this.health.problem("executes")?.code === ENGINE_FAULT;
  }

  /**
   * Runs one action. A failure does not delay other actions: the failure is logged, and the next round tries again. A
   * repeated failure is logged once.
   * @param doing The action's description, for the log.
   * @param kind Identifies the failure's subject together with `id`.
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
    return this.#reports.isNew(kind, id, what);
  }

  /** Logs an event, if any, and passes the event on. */
  report(event: E | undefined): void {
    if (event === undefined) return;
    const fields = Object.fromEntries(Object.entries(event).filter(([key]) => key !== "kind" && key !== "receipt"));
    const { level, message } = this.#lineOf(event);
    this.#options.log[level]({ ...fields, ...transactionFields(event.receipt) }, message);
    this.#options.onEvent?.(event);
  }

  /** Logs an error of an action. */
  logError(error: unknown, doing: string): void {
    logError(this.#options.log, error, doing);
  }

  /**
   * Returns true if the account is plain. A delegation may appear at any time: anybody with an authorisation signed by
   * the key, including an authorisation for chain 0, valid on every chain, can have the delegation mined. The code is
   * read once per block, and once a minute while a clock is short.
   */
  async #isPlain({ blockNumber, now }: Snapshot, purpose: string): Promise<boolean> {
    const known = this.#account;
    if (known?.blockNumber === blockNumber || (known?.isPlain === true && this.#isKept(known.now, now)))
      return known.isPlain;
    const problem = await accountProblem(this.#options.session);
    const isPlain = problem === undefined;
    this.#account = { blockNumber, now, isPlain };
    this.health.set("account", problem && { code: problem.code, reason: `cannot ${purpose}: ${problem.message}` });
    return isPlain;
  }

  /** The forgotten data depend on role, account and programs: each combination keeps separate events on disk. */
  #resume(session: Session): Resume | undefined {
    const { programs, cacheFolder, log } = this.#options;
    if (cacheFolder === undefined) return undefined;
    return resumeFrom({
      folder: cacheFolder,
      owner: [this.#name, session.sender.address],
      content: programs.content,
      warn: (reason) => log.warn(reason),
    });
  }

  /** Measures the games in all markets together. */
  #measure(snapshots: readonly Snapshot[]): void {
    const { session, clock } = this.#options;
    const all = snapshots.map(({ history, now }) => playFigures(history, session.sender.address, now));
    const sum = (key: "openClaims" | "openGames"): number => all.reduce((total, one) => total + (one[key] ?? 0), 0);
    const minClock = Math.min(...all.map((one) => one.minClock));
    const clocks = snapshots.flatMap(({ history, now }) => clocksOf(history, session.sender.address, now));
    this.#isClockShort = clocks.some((left) => left > 0 && left < SHORT_CLOCK);
    this.meter.figures({ openClaims: sum("openClaims"), openGames: sum("openGames"), minClock });
    const [snapshot] = snapshots;
    if (clock === undefined || snapshot === undefined) return;
    const { lag, problem } = this.#head.of(snapshot, clock());
    this.meter.figures({ headLag: lag });
    this.health.set("chain", problem === undefined ? undefined : { reason: problem });
  }

  /** A role that begins after the deployment would see nothing, and be silent about it. */
  #checkEvents({ history }: Snapshot): void {
    const { isProven, fromBlock } = this.#options.session;
    const reason =
      `no job was read from block ${fromBlock} on, and the nodes keep no state so old as to show whether the ` +
      "deployment is older: leave --from-block out, or check it";
    if (history.jobs.size > 0) this.#hasRead = true;
    this.health.set("events", isProven === false && !this.#hasRead ? { reason } : undefined);
  }

  /** Whether what was read at one time of the chain is good enough at a later time: moves that are due come first. */
  #isKept(readAt: bigint, now: bigint): boolean {
    return this.#isClockShort && now - readAt < BigInt(SHORT_CLOCK);
  }

  #areFundsDue({ blockNumber, now }: Snapshot): boolean {
    const round = this.#rounds++;
    if (round < this.#funds.round + FUNDS_ROUNDS || blockNumber === this.#funds.blockNumber) return false;
    if (this.#isKept(this.#funds.now, now)) return false;
    this.#funds = { round, blockNumber, now };
    return true;
  }

  async #readFunds(snapshot: Snapshot, checkFunds: RoleRounds["checkFunds"]): Promise<void> {
    try {
      const funds = await this.#fundsNow();
      await checkFunds?.(funds, snapshot);
    } catch (error) {
      // Otherwise what was found last, or nothing at all, would count for ever.
      if (checkFunds !== undefined) this.health.set("pays", problemOf(error, "the account cannot be read"));
      throw error;
    }
  }

  async #fundsNow(): Promise<Funds> {
    const { publicClient, sender, vault, deployment } = this.#options.session;
    const read = Promise.all([
      publicClient.getBalance({ address: sender.address }),
      gasPriceNow(publicClient),
      vault.accountOf(sender.address),
    ]);
    const [balance, gasPrice, account] = await read.catch((error: unknown) => {
      throw translateError(error, "reading the account's money");
    });
    const { credit, staked, locked } = account;
    this.meter.figures({ balance, gasPrice, credit, staked, locked, bond: deployment.bond });
    return { ...account, balance, gasPrice };
  }
}
