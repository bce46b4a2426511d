import { pino } from "pino";
import { decodeFunctionData, keccak256, parseTransaction, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { protocolAbi, stateOf, type ClaimRecord, type JobRecord } from "../../src/chain/market/history.ts";
import { followMarket, openSession, type Session, type Snapshot } from "../../src/chain/market/session.ts";
import type { GameState } from "../../src/chain/market/state.ts";
import { Outcome, Side } from "../../src/chain/structs.ts";
import { runWorker } from "../../src/parties/worker/worker.ts";
import { runWatcher } from "../../watcher/watcher.ts";
import type { ForkingChain, Included } from "./forkingChain.ts";
import { RpcLine, type Fault } from "./rpcLine.ts";
import { PARTIES, type Party, type Scenario } from "./scenarios.ts";
import type { Setup } from "./setup.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";

/**
 * A playthrough counts as endless after both limits: on a busy machine, a minute may be two seconds of computing, which
 * is what a playthrough takes.
 */
const LIMIT_MS = 60_000;
const LIMIT_CPU_SECONDS = 20;
const INTERVAL_MS = 30;
/** After a ninth of `slowMs`, a party looks for a nonce that a reorganisation left without a transaction. */
const PATIENCE = { pollingMs: 5, slowMs: 9_000 };
const TICK_MS = 25;

/** The point after the end of a scenario. */
export const AFTER_END = Infinity;

/**
 * A disturbance, applied to the parties when a block includes a scenario's transaction and no party has seen the block.
 * @param included The transaction; undefined at the end.
 */
export type Disturbance = (playthrough: Playthrough, included?: Included) => Promise<void> | void;

type Refusals = {
  /**
   * Reverted transactions of honest parties on the chain, except transactions moved by a reorganisation: the called
   * function and the revert reason.
   */
  refused: readonly string[];
  /**
   * The number of successful moves sent again by honest parties. A successful collection does not count, because there
   * was something new to collect.
   */
  repeated: number;
};

/** The result of a playthrough. */
export type PlaythroughResult = Refusals & {
  /** The called functions, in order, including calls that a reorganisation took back. */
  calls: string[];
  /** The parties' log messages at warning level or above. */
  complaints: readonly string[];
};

/** A playthrough of a scenario, on a chain reset to the beginning. */
export class Playthrough {
  readonly fork: ForkingChain;
  readonly #setup: Setup;
  readonly #scenario: Scenario;
  readonly #lines = new Map<Party, RpcLine>();
  readonly #running: { stop: AbortController; done: Promise<void>; line: RpcLine }[] = [];
  readonly #complaints: string[] = [];
  readonly #calls: string[] = [];
  #failure: unknown;
  #isOver = false;

  private constructor(setup: Setup, scenario: Scenario) {
    this.#setup = setup;
    this.#scenario = scenario;
    this.fork = setup.fork;
  }

  /**
   * Plays a scenario, disturbs it once after transaction number `point`, and checks that the scenario ends correctly.
   * @param point From 0 up; `AFTER_END` for the time when everything has ended and every party has seen the end; -1
   *   for never.
   * @throws Error if the scenario does not end correctly in time, or if an honest party loses.
   */
  static async play(setup: Setup, scenario: Scenario, point: number, disturb: Disturbance): Promise<PlaythroughResult> {
    const playthrough = new Playthrough(setup, scenario);
    await setup.fork.begin();
    setup.fork.onIncluded = async (included) => {
      playthrough.#calls.push(included.functionName);
      if (playthrough.#calls.length !== point + 1) return;
      // A mistake in a disturbance is thrown at the end: its transaction did not cause it.
      await Promise.resolve(disturb(playthrough, included)).catch((error: unknown) => (playthrough.#failure = error));
    };
    try {
      return await playthrough.#run(disturb, point);
    } finally {
      await playthrough.#end();
    }
  }

  /** Makes empty blocks until the end, as on a chain that others use too. */
  async tick(): Promise<void> {
    while (!this.#isOver) {
      await this.fork.tick();
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }

  /** A party's current connection to the chain. */
  line(party: Party): RpcLine {
    return this.#lines.get(party)!;
  }

  /** The job and the chain as they are now. */
  async look(): Promise<Snapshot & { job: JobRecord | undefined }> {
    const snapshot = await followMarket(await this.#session(new RpcLine(this.fork), this.#setup.keys.requester))();
    return { ...snapshot, job: snapshot.history.jobs.get(this.#setup.jobOf(this.#scenario).jobId) };
  }

  addressOf(party: Party): Hex {
    return this.#setup.addressOf(party);
  }

  /** Whose transaction it is; undefined for the requester. */
  partyOf({ from }: Pick<Included, "from">): Party | undefined {
    return PARTIES.find((party) => this.#setup.addressOf(party).toLowerCase() === from.toLowerCase());
  }

  /** Returns true after a party has reported that it cannot pay for gas, or once a report would come too late. */
  isShortOfGasMoney(): boolean {
    return this.#isOver || this.#complaints.some((text) => text.includes("INSUFFICIENT_GAS_FUNDS"));
  }

  get honest(): readonly Party[] {
    return this.#scenario.honest;
  }

  get parties(): Party[] {
    return PARTIES.filter((party) => this.#scenario.executions[party] !== undefined);
  }

  /** Kills a party's process, and starts another one that knows nothing but the key. */
  restart(party: Party): void {
    this.line(party).cut();
    this.start(party);
  }

  /** Starts a party. Earlier instances with the same key keep running. */
  start(party: Party): void {
    const line = new RpcLine(this.fork);
    line.fault = this.#silenceOf(party);
    this.#lines.set(party, line);
    const stop = new AbortController();
    const done = this.#runParty(party, line, stop.signal).catch((error: unknown) =>
      this.#complaints.push(String(error)),
    );
    this.#running.push({ stop, line, done: done.then(() => undefined) });
  }

  async #runParty(party: Party, line: RpcLine, signal: AbortSignal): Promise<void> {
    const session = await this.#session(line, this.#setup.keys[party]);
    const execute = this.#scenario.executions[party]!;
    const log = pino({ level: "warn" }, { write: (text: string) => void this.#complaints.push(`${party}: ${text}`) });
    const programs = ProgramLibrary.of(this.#setup.programs);
    const common = { session, programs, execute, signal, log, intervalMs: INTERVAL_MS };
    const policy = { minFee: 1n, marginSeconds: 10 };
    // A liar's audit would find its own lie now and then.
    const selfAuditSamples = this.honest.includes(party) ? 1 : 0;
    if (party === "worker") await runWorker({ ...common, policy, selfAuditSamples });
    else await runWatcher({ ...common, mode: "defend" });
  }

  #session(line: RpcLine, key: Hex): Promise<Session> {
    const { chainId, market } = this.fork.chain;
    const account = privateKeyToAccount(key);
    return openSession({
      endpoint: { transport: line.transport },
      chainId,
      market,
      account,
      patience: PATIENCE,
    });
  }

  #silenceOf(party: Party): Fault {
    const { silent } = this.#scenario;
    if (silent?.party !== party) return (call, pass) => pass(call);
    return (call, pass) => {
      if (call.method !== "eth_sendRawTransaction") return pass(call);
      const { data } = parseTransaction((call.params as [Hex])[0]);
      if (data === undefined) return pass(call);
      const { functionName } = decodeFunctionData({ abi: protocolAbi, data });
      // The node accepts the transaction and never includes it.
      return silent.functions.includes(functionName)
        ? Promise.resolve(keccak256((call.params as [Hex])[0]))
        : pass(call);
    };
  }

  async #run(disturb: Disturbance, point: number): Promise<PlaythroughResult> {
    const requester = await this.#session(new RpcLine(this.fork), this.#setup.keys.requester);
    const follow = followMarket(requester);
    const { jobId, post } = this.#setup.jobOf(this.#scenario);
    for (const party of this.parties) this.start(party);
    let due = "a job";
    let atEnd = point === AFTER_END;
    const cpu = process.cpuUsage();
    const hasComputed = (): boolean => {
      const { user, system } = process.cpuUsage(cpu);
      return user + system > LIMIT_CPU_SECONDS * 1e6;
    };
    for (const end = Date.now() + LIMIT_MS; ; await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))) {
      const snapshot = await follow();
      const job = snapshot.history.jobs.get(jobId);
      // The requester's node still has what a reorganisation takes back.
      if (job === undefined) await this.fork.include(post).catch(() => undefined);
      else {
        const next = await this.#direct(requester, job, snapshot);
        if (next === undefined && !atEnd) {
          const refusals = await this.#refusalsAt(snapshot.blockNumber);
          if (refusals !== undefined && this.#failure === undefined)
            return { calls: this.#calls, complaints: this.#complaints, ...refusals };
        } else if (next === undefined) {
          atEnd = false;
          await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS));
          await this.fork.alone(async () => disturb(this));
        } else due = next;
      }
      if (this.#failure !== undefined) throw new Error("the disturbance failed", { cause: this.#failure });
      if (Date.now() > end && hasComputed()) throw new Error(`waited for: ${due}\n${this.#circumstances()}`);
    }
  }

  /** Does what the requester does, and lets time pass. @returns What is waited for; undefined at the end. */
  async #direct(requester: Session, job: JobRecord, snapshot: Snapshot): Promise<string | undefined> {
    const { now, blockNumber } = snapshot;
    const claim = job.claims.at(-1);
    // The block builder may have put the requester's cancellation before the claim.
    if (claim === undefined) return job.closed ? this.#losses(undefined) : "a claim";
    const open = claim.games.filter(({ closed }) => closed === undefined);
    if (claim.refuted) {
      if (open.length > 0) return "settled games";
      if (job.closed) return this.#losses(claim);
      const { market } = requester.deployment;
      const call = { address: market, abi: jobMarketAbi, functionName: "cancel", args: [job.job] } as const;
      await requester.sender.send(call).catch(() => undefined);
      return "the refund";
    }
    if (claim.finalised) return claim.paid ? this.#losses(claim) : "the fee";
    if (open.length > 0) return this.#letClockRunOut(open.map(stateOf), snapshot, claim);
    if (this.#scenario.ending === "finalised" && claim.games.length > 0 && now <= claim.windowEnd)
      await this.fork.advance(Number(claim.windowEnd - now) + 1, blockNumber);
    return `the end of a claim, ${claim.games.length} games`;
  }

  /** Lets a clock run out when only somebody silent is to move. */
  async #letClockRunOut(states: GameState[], { now, blockNumber }: Snapshot, { games }: ClaimRecord): Promise<string> {
    const { silent } = this.#scenario;
    const watchers = this.parties.length - 1;
    if (silent === undefined || games.length < watchers) return "the end of a game";
    const side = silent.party === "worker" ? Side.worker : Side.challenger;
    if (states.some(({ turn }) => turn !== side)) return "a move";
    const ends = states.map((s) => s.since + (side === Side.worker ? s.workerSeconds : s.challengerSeconds));
    const left = Math.max(...ends) - Number(now);
    if (left >= 0) await this.fork.advance(left + 1, blockNumber);
    return "a timeout";
  }

  /** Returns an honest party's missing money, in words; undefined if nothing is missing. */
  async #losses(claim: ClaimRecord | undefined): Promise<string | undefined> {
    const { parameters, bond } = this.#setup.deployment;
    const before = this.#setup.wealth;
    const gains = new Map<Party, bigint>();
    for (const party of this.parties) gains.set(party, (await this.#setup.wealthOf(party)) - before.get(party)!);
    const worker = gains.get("worker")!;
    if (claim === undefined)
      return this.#scenario.honest.every((party) => gains.get(party)! >= 0n) ? undefined : "money";
    if (this.#scenario.ending === "finalised") {
      const won = claim.games.filter(({ closed }) => closed?.outcome === Outcome.workerWon).length;
      const due = this.#setup.fee + BigInt(won) * bond;
      return worker >= due ? undefined : `${due - worker} due to the worker`;
    }
    const watchers = this.#scenario.honest.map((party) => gains.get(party)!);
    if (watchers.some((gain) => gain < 0n)) return "a watcher's money";
    if (watchers.reduce((a, b) => a + b) < parameters.bounty) return "the bounty";
    if (worker > (-parameters.collateral * 9n) / 10n) throw new Error("the liar keeps its collateral");
    return undefined;
  }

  /** Undefined if `seen` has ceased to be the latest block: a reorganisation may have taken back the end seen there. */
  #refusalsAt(seen: bigint): Promise<Refusals | undefined> {
    return this.fork.alone(async () =>
      BigInt(await this.fork.height()) === seen ? this.#refusals() : undefined,
    );
  }

  async #refusals(): Promise<Refusals> {
    const made = new Set<string>();
    const refused: string[] = [];
    let repeated = 0;
    for (const { hash, from, input, reverted } of await this.fork.canonical()) {
      const party = this.partyOf({ from });
      if (party === undefined || !this.#scenario.honest.includes(party) || input === "0x") continue;
      const isMoved = this.fork.reincluded.has(hash);
      const move = `${party} ${input}`;
      const { functionName } = decodeFunctionData({ abi: protocolAbi, data: input });
      if (reverted && !isMoved) refused.push(`${functionName}: ${await this.fork.reasonOf(hash)}`);
      if (made.has(move) && !isMoved && (functionName !== "collect" || reverted)) repeated++;
      if (!reverted) made.add(move);
    }
    return { refused, repeated };
  }

  #circumstances(): string {
    const last = this.#complaints.slice(-12).map((text) => text.slice(0, 400));
    return [`transactions: ${this.#calls.join(" ")}`, ...last].join("\n");
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    for (const { stop, line } of this.#running) {
      stop.abort();
      line.cut();
    }
    // A process that waits for an answer never ends; every other one ends soon.
    await Promise.race([
      Promise.all(this.#running.map(({ done }) => done)),
      new Promise((resolve) => setTimeout(resolve, 50)),
    ]);
    this.fork.onIncluded = () => Promise.resolve();
  }
}
