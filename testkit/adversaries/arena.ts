import { decodeFunctionData, parseEther, type Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { knownProgram, type Execution, type KnownProgram } from "../../src/dispute/run/execution.ts";
import {
  stateOf,
  type ClaimRecord,
  type GameRecord,
  type History,
  type JobRecord,
} from "../../src/chain/market/history.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import { followMarket, type Session } from "../../src/chain/market/session.ts";
import type { LocalParameters } from "../../src/deploy/demo/localChain.ts";
import { Outcome, type Pick as PickOf, type Side } from "../../src/chain/structs.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { compile } from "../../src/compiler/compile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { JobTerms } from "../../src/parties/requester/postJob.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import type { WatcherEvent } from "../../watcher/events.ts";
import { mlpBytes } from "../models/mlp.ts";
import { Players, reference, type Running } from "../players/players.ts";
import { runOfOne } from "../programs/runOfOne.ts";
import { chainOfSums } from "../programs/randomSums.ts";
import { rootPick } from "../soak/challengers.ts";
import { open } from "./sendMoves.ts";
import type { Verdict } from "./verdict.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import type { Execute } from "../../src/runs/execute.ts";

const WINDOW = 3_600;
const LIMIT_MS = 20_000;

/** A posted job, with its program and inputs. */
export type Posted = { requester: Session; record: JobRecord; program: KnownProgram; inputs: readonly Uint8Array[] };

/** An account that opens games, and its session. */
type Challenger = { key: Hex; session: Session };

type Stoppable = { stop: () => Promise<void> };

/** Players that remember their running loops, to stop the loops later. */
class ArenaPlayers extends Players {
  readonly #running = new Set<Stoppable>();

  static override async create(parameters: LocalParameters = {}, token?: string): Promise<ArenaPlayers> {
    const { chain, manufacturer } = await Players.create(parameters, token);
    return new ArenaPlayers(chain, manufacturer);
  }

  override async startWorker(...given: Parameters<Players["startWorker"]>): Promise<Running<WorkerEvent>> {
    return this.remember(await super.startWorker(...given));
  }

  override async startWatcher(...given: Parameters<Players["startWatcher"]>): Promise<Running<WatcherEvent>> {
    return this.remember(await super.startWatcher(...given));
  }

  remember<T extends Stoppable>(running: T): T {
    this.#running.add(running);
    return running;
  }

  async calm(except: Stoppable): Promise<void> {
    await Promise.all([...this.#running].filter((running) => running !== except).map((running) => running.stop()));
    this.#running.clear();
    this.#running.add(except);
  }
}

/** Optional settings of an arena. */
type ArenaOptions = {
  /** The contract of the stake asset. */
  token?: string;
  /** The contents of claims on the arena's jobs: "trace" by default. */
  form?: ClaimForm;
};

/** A chain, an honest watcher that runs all the time, and what attacks need. */
export class Arena {
  /** The contents of claims on the arena's jobs. */
  form: ClaimForm;
  readonly players: ArenaPlayers;
  readonly watcherKey: Hex;
  /** A network of matrix products with a single checkpoint, and a chain of additions with many checkpoints. */
  readonly mlp: KnownProgram;
  readonly chainOfSums: KnownProgram;
  readonly #observer: Session;
  readonly #follow: () => Promise<{ history: History; now: bigint }>;
  watcher: Running<WatcherEvent>;

  private constructor(
    players: ArenaPlayers,
    watcherKey: Hex,
    observer: Session,
    mlp: KnownProgram,
    sums: KnownProgram,
    form: ClaimForm,
  ) {
    this.form = form;
    this.players = players;
    this.watcherKey = watcherKey;
    this.mlp = mlp;
    this.chainOfSums = sums;
    this.#observer = observer;
    this.#follow = followMarket(observer);
    this.watcher = { inbox: undefined as never, stop: () => Promise.resolve() };
  }

  static async create({ token, form = "trace" }: ArenaOptions = {}): Promise<Arena> {
    const players = await ArenaPlayers.create({}, token);
    const watcherKey = await players.chain.newAccount(parseEther("20"));
    await deposit(await players.chain.sessionOf(watcherKey), parseEther("10"));
    const mlp = knownProgram(compile(readModel(mlpBytes(1)), { shapes: {} }));
    const sums = chainOfSums();
    const arena = new Arena(players, watcherKey, await players.chain.newSession(parseEther("1")), mlp, sums, form);
    await arena.startWatcher();
    return arena;
  }

  /** Starts the honest watcher, which knows the arena's programs and others. */
  async startWatcher(others: readonly KnownProgram[] = [], execute: Execute = reference()): Promise<void> {
    await this.watcher.stop();
    const programs = ProgramLibrary.of([this.mlp, this.chainOfSums, ...others]);
    this.watcher = await this.players.startWatcher(this.watcherKey, this.mlp, execute, { programs });
  }

  /** Stops everybody but the honest watcher: also those that a failed attack left behind. */
  async calm(): Promise<void> {
    await this.players.calm(this.watcher);
  }

  async close(): Promise<void> {
    await this.watcher.stop();
    await this.calm();
    await this.players.chain.close();
  }

  async post(program: KnownProgram, inputs: readonly Uint8Array[], terms: Partial<JobTerms> = {}): Promise<Posted> {
    const { requester, jobId } = await this.players.postUnchecked(program, inputs, {
      window: WINDOW,
      answer: this.form === "answer",
      ...terms,
    });
    const record = (await this.history()).jobs.get(jobId)!;
    return { requester, record, program, inputs };
  }

  /** Everything that happened on the market so far. The records stay current. */
  async history(): Promise<History> {
    return (await this.#follow()).history;
  }

  /** The chain's time, unix seconds. */
  now(): Promise<bigint> {
    return this.players.chain.now();
  }

  /** Returns the sum of some accounts' ledger entries, without money locked in games. */
  async wealth(...keys: readonly Hex[]): Promise<bigint> {
    const accounts = await Promise.all(keys.map((key) => this.#observer.vault.accountOf(this.players.addressOf(key))));
    return accounts.reduce((sum, { credit, staked, withdrawing }) => sum + credit + staked + withdrawing, 0n);
  }

  /** A new account with credit for bonds. */
  async challenger(): Promise<Challenger> {
    const key = await this.players.watcherKey();
    return { key, session: await this.players.chain.sessionOf(key) };
  }

  /** A worker's whole execution of a job, right or wrong. */
  async execution(
    { program, inputs }: Pick<Posted, "program" | "inputs">,
    execute: Execute = reference(),
  ): Promise<Execution> {
    const tensors = await execute(program.model, inputs);
    return { ...program, inputs, trace: new Trace(program.model.program, tensors) };
  }

  /** Returns the execution of a one-item job in the form required by claims on the job. */
  runOf(execution: Execution): RunExecution {
    return runOfOne(execution, this.form);
  }

  /** Waits until the history holds a value. @throws Error after the time limit, which names the value. */
  async until<T>(what: string, found: (history: History) => T | undefined, limitMs = LIMIT_MS): Promise<T> {
    const end = Date.now() + limitMs;
    for (;;) {
      const value = found(await this.history());
      if (value !== undefined) return value;
      if (Date.now() > end) throw new Error(`waited for: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The job's latest claim, once there is one. */
  claimOn({ record }: Posted): Promise<ClaimRecord> {
    return this.until("a claim", ({ jobs }) => jobs.get(record.id)?.claims.at(-1));
  }

  /** Returns an account's game on a claim, once the game is open. */
  gameOn(claim: ClaimRecord, key: Hex): Promise<GameRecord> {
    const address = this.players.addressOf(key).toLowerCase();
    return this.until("a game", ({ claims }) =>
      claims.get(claim.id)?.games.find(({ challenger }) => challenger.toLowerCase() === address),
    );
  }

  /** Returns the pick that opens a game at a claim's top. */
  async openingOf(posted: Posted, { nodes }: ClaimRecord): Promise<PickOf> {
    const own = this.runOf(await this.execution(posted));
    return rootPick(own, submittedList(own, nodes));
  }

  /** Opens a game at the top of a claim. */
  async openAtRoot({ key, session }: Challenger, posted: Posted, claim: ClaimRecord): Promise<GameRecord> {
    await open(session, claim, await this.openingOf(posted, claim));
    return this.gameOn(claim, key);
  }

  /** Waits until a side has the turn in a game. */
  async turnOf(side: Side, game: GameRecord, what: string): Promise<void> {
    await this.until(what, () => stateOf(game).turn === side || undefined);
  }

  /** Waits until a claim is refuted, cancels the job, and reports how the claim was refuted. */
  async death(posted: Posted): Promise<Verdict> {
    const claim = await this.claimOn(posted);
    await this.until("the claim's death", ({ claims }) => claims.get(claim.id)?.refuted === true || undefined);
    const { sender, deployment } = posted.requester;
    const args = [posted.record.job] as const;
    await sender.send({ address: deployment.market, abi: jobMarketAbi, functionName: "cancel", args });
    return this.causeOfDeath((await this.history()).claims.get(claim.id)!);
  }

  /** Lets the window pass and waits until the claim is final. */
  async survival(posted: Posted): Promise<Verdict> {
    const claim = await this.claimOn(posted);
    await this.players.chain.advance(WINDOW + 1);
    await this.until("the claim's finality", ({ claims }) => claims.get(claim.id)?.finalised === true || undefined);
    return "finalised";
  }

  async causeOfDeath(claim: ClaimRecord): Promise<Verdict> {
    const killer = claim.games.find(({ closed }) => closed?.outcome === Outcome.challengerWon)!;
    const hash = killer.closed!.transactionHash;
    const { input } = await this.#observer.publicClient.getTransaction({ hash });
    const { functionName } = decodeFunctionData({ abi: disputeGameAbi, data: input });
    if (functionName === "prove") return "refuted by a proof";
    return functionName === "timeout" ? "refuted by the clock" : "refuted by concession";
  }
}
