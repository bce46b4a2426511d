import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TransactionReceipt } from "viem";
import { gasPriceNow } from "../../chain/gasPrice.ts";
import type { Account } from "../../chain/clients/stakeVault.ts";
import { translateError } from "../../chain/translateError.ts";
import { ENGINE_FAULT } from "../../executor/errors.ts";
import type { Forget } from "../../chain/market/forget.ts";
import { lastSecondOf } from "../../chain/market/clock.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { resumeFrom } from "../../chain/market/resume.ts";
import { followMarket, type Resume, type Session, type Snapshot } from "../../chain/market/session.ts";
import { Executions, type HeldInputs } from "../../runs/executions.ts";
import { ReferencedInputs, type ReferenceOptions } from "../../runs/inputs/referencedInputs.ts";
import { HeadAge, NO_METER, playFigures, type Meter } from "../../runs/figures.ts";
import { Health, problemOf } from "../../base/health.ts";
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
  /** Jobs that are executed at a time, beside what games need. 1 if absent. */
  atOnce?: number;
  /** Bytes of executions that are kept in memory. `KEPT_BYTES` if absent. */
  keptBytes?: number;
  /** Folder of what a restart need not read or execute again. Nothing is kept on disk if absent. */
  cacheFolder?: string;
  /** The most bytes of it that runs take, of this role and account. `STORED_BYTES` if absent. */
  storedBytes?: number;
  /** Where runs are kept besides, for a machine that takes over; nowhere if absent. */
  sharedRuns?: RunShare | undefined;
  /** Inputs that are held here, of jobs that do not publish them. */
  heldInputs?: HeldInputs;
  /** How those are fetched that jobs refer to, where none are held; they are not if it is absent. */
  references?: ReferenceOptions | undefined;
  /** Called with each thing found or done. */
  onEvent?: (event: E) => void;
  /** Where the role says what it can be relied on for; one of its own if absent. */
  health?: Health;
  /** Takes what the role measures. */
  meter?: Meter;
  /** The time of this machine, unix seconds. The age of the head is judged by it, or not at all if it is absent. */
  clock?: () => number;
};

/** What happened, for logs and for programs that run a worker or a watcher. */
type RoleEvent = { kind: string; receipt?: TransactionReceipt };

/** How an event is logged. */
type LogLine = { level: "info" | "warn" | "error"; message: string };

/** Starts an action beside the others, unless one of its key runs, or ran when the snapshot was taken. */
export type Start = (key: string, action: () => Promise<void>) => void;

/** What is known at the beginning of a round. */
export type RoundSnapshot = Snapshot & {
  /** Whether games can be played from the account; true for a role that plays none. */
  isPlain: boolean;
};

/** What the account has, and what gas costs, wei. */
export type Funds = Account & { balance: bigint; gasPrice: bigint };

/** What sets a worker and a watcher apart. */
type RoleRounds = {
  /** Logged at the start. */
  facts: object;
  /** What may be forgotten of a job. */
  forget: Forget;
  /** For the log, what is not done while the account is no plain one. Without it, the account's code is not read. */
  needsPlainAccountTo?: string | undefined;
  /**
   * Says whether the account can do what is asked of it, and sets `pays`. Called every few rounds, beside them. Absent
   * in a role that sends nothing.
   */
  checkFunds?: ((funds: Funds, snapshot: Snapshot) => void | Promise<void>) | undefined;
  /** Starts what the snapshot asks for. It does not wait for it: an execution takes long, and clocks of games run. */
  round: (snapshot: RoundSnapshot, start: Start) => void;
};

/** The account's money is read every so many rounds, if there is a new block. */
const FUNDS_ROUNDS = 3;

/** What the log says of an event's transaction. */
const transactionFields = (receipt: TransactionReceipt | undefined): object =>
  receipt === undefined ? {} : { transactionHash: receipt.transactionHash, gas: Number(receipt.gasUsed) };

/** Where what a role keeps lies: its jobs are those of a deployment, and what is kept of others is deleted. */
function ownFolder(cache: string, kind: string, name: string, { deployment, publicClient, sender }: Session): string {
  const owner = [publicClient.chain.id, deployment.market, deployment.game, name, sender.address];
  return join(cache, `${kind}-${sha256(JSON.stringify(owner)).slice(0, 32)}`);
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What a worker and a watcher have in common: their rounds, their executions, and how they report. */
export class Role<E extends RoleEvent> {
  readonly executions: Executions;
  /** What this process can be relied on for. */
  readonly health: Health;
  readonly meter: Meter;
  readonly #name: string;
  readonly #options: RoleOptions<E>;
  readonly #lineOf: (event: E) => LogLine;
  /** What the account was at a block. */
  #account: { blockNumber: bigint; isPlain: boolean } | undefined;
  /** The last round in which the account's money was read. */
  #funds = { round: -Infinity, blockNumber: -1n };
  #rounds = 0;
  readonly #head = new HeadAge();
  readonly #reports = new Reports();
  readonly #fetched: ReferencedInputs | undefined;
  readonly #held: HeldInputs | undefined;

  /**
   * @param name Of the role, for the log and for what it keeps on disk.
   * @param lineOf How an event is logged.
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
  async run({ facts, forget, needsPlainAccountTo, checkFunds, round }: RoleRounds): Promise<void> {
    const { session, programs, log } = this.#options;
    const name = this.#name;
    const follow = followMarket(session, forget, this.#resume());
    const tasks = new Tasks();
    log.info({ [name]: session.sender.address, ...facts, programs: programs.size }, `${name} starts`);
    await runLoop(this.#options, async () => {
      const busy = tasks.running;
      const snapshot = await follow();
      this.#reports.forget(snapshot.history);
      // What an engine at fault computed is not kept for the next start.
      this.executions.stored.forget(this.isAtFault ? new Map() : snapshot.history.jobs);
      this.#held?.keep?.(snapshot.history.jobs);
      this.#measure(snapshot);
      const isPlain = needsPlainAccountTo === undefined || (await this.#isPlain(snapshot, needsPlainAccountTo));
      const start: Start = (key, action) => {
        if (!busy.has(key)) tasks.start(key, action);
      };
      round({ ...snapshot, isPlain }, start);
      start("runs on disk", () => this.attempt("keeping runs on disk", "", () => this.executions.stored.flush()));
      // After the round, whose moves must not wait for it.
      if (this.#areFundsDue(snapshot))
        start("funds", () => this.attempt("reading the account", "", () => this.#readFunds(snapshot, checkFunds)));
    });
    await tasks.settled();
    await this.#fetched?.settled();
    log.info(`${name} stops`);
  }

  /** Whether the engine was found to compute wrongly: then nothing is executed until a restart. */
  get isAtFault(): boolean {
    return this.health.problem("executes")?.code === ENGINE_FAULT;
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
    return this.#reports.isNew(kind, id, what);
  }

  /** Logs an event, if there is one, and hands it on. */
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
   * Whether the account is a plain one. A delegation may come at any time: whoever holds an authorisation that the key
   * signed, also one for chain 0, which holds on every chain, can have it included. It is looked for once a block.
   */
  async #isPlain({ blockNumber }: Snapshot, purpose: string): Promise<boolean> {
    if (this.#account?.blockNumber === blockNumber) return this.#account.isPlain;
    const problem = await accountProblem(this.#options.session);
    const isPlain = problem === undefined;
    this.#account = { blockNumber, isPlain };
    this.health.set("account", problem && { code: problem.code, reason: `cannot ${purpose}: ${problem.message}` });
    return isPlain;
  }

  /** What is forgotten depends on the role, its account and its programs, so each has events of its own on disk. */
  #resume(): Resume | undefined {
    const { session, programs, cacheFolder, log } = this.#options;
    if (cacheFolder === undefined) return undefined;
    return resumeFrom({
      folder: cacheFolder,
      owner: [this.#name, session.sender.address],
      content: programs.content,
      warn: (reason) => log.warn(reason),
    });
  }

  #measure(snapshot: Snapshot): void {
    const { session, clock } = this.#options;
    this.meter.figures(playFigures(snapshot.history, session.sender.address, snapshot.now));
    if (clock === undefined) return;
    const { lag, isOld } = this.#head.of(snapshot, clock());
    this.meter.figures({ headLag: lag });
    const reason =
      `the newest block that the nodes show, ${snapshot.blockNumber}, is ${Math.round(lag)} s old: the nodes are ` +
      "behind the chain, or this machine's clock is wrong";
    this.health.set("chain", isOld ? { reason } : undefined);
  }

  #areFundsDue({ blockNumber }: Snapshot): boolean {
    const round = this.#rounds++;
    if (round < this.#funds.round + FUNDS_ROUNDS || blockNumber === this.#funds.blockNumber) return false;
    this.#funds = { round, blockNumber };
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
