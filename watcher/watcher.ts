import type { Hex } from "viem";
import type { Logger } from "pino";
import type { KnownProgram } from "../src/player/execution.ts";
import { isOver, type Forget } from "../src/market/forget.ts";
import { overtime } from "../src/market/hop.ts";
import { Executions, type Execute } from "../src/player/executions.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../src/market/history.ts";
import { Lane } from "../src/player/lane.ts";
import { report, runLoop } from "../src/player/loop.ts";
import { requirePlainAccount } from "../src/player/plainAccount.ts";
import { followMarket, type Session, type Snapshot } from "../src/market/session.ts";
import { Tasks } from "../src/player/tasks.ts";
import { RefuteError } from "../src/errors.ts";
import type { TensorSource } from "../src/trace/published.ts";
import { Auditor, type Verdict } from "./auditor.ts";
import type { WatcherEvent } from "./events.ts";
import { idleChallengerMove, planChallengerMove, type Plan } from "../src/dispute/challengerPlan.ts";
import { carryOut } from "./carryOut.ts";
import { BondError, Responder } from "./responder.ts";
import { schedule, type AuditTask, type GameTask } from "./scheduler.ts";

/** Every game that could be opened over a difference is lost. */
export class NoOpeningError extends RefuteError {
  readonly code = "NO_OPENING";
}

/** How a watcher runs. */
export type WatcherOptions = {
  session: Session;
  /** The programs that it can judge, compiled here. */
  programs: readonly KnownProgram[];
  execute: Execute;
  /** Where workers' traces are published, if anywhere: disputes are then shorter. */
  tensors?: TensorSource | undefined;
  /** `watch` observes and reports, `defend` also opens and plays games. */
  mode: "watch" | "defend";
  /** Bytes of executions that are kept in memory. `KEPT_BYTES` if absent. */
  keptBytes?: number;
  signal: AbortSignal;
  intervalMs: number;
  log: Logger;
  /** Called after each round. */
  onRound?: (outcome: "done" | "failed") => void;
  /** Called with each thing found or done. */
  onEvent?: (event: WatcherEvent) => void;
};

/**
 * Runs the challenger until the signal: monitor -> scheduler -> player -> pure strategy -> responder. Every round starts from the
 * chain alone, so it may be stopped in the middle of a game and started again.
 * @throws NotPlainAccountError if it defends and its account has code
 */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const { session, mode, log } = options;
  if (mode === "defend") await requirePlainAccount(session);
  const watcher = new Watcher(options);
  const monitor = followMarket(session, watcher.forget);
  const tasks = new Tasks();
  log.info({ watcher: session.sender.address, mode, programs: options.programs.length }, "watcher starts");
  await runLoop(options, async () => {
    const busy = tasks.running;
    watcher.round(await monitor(), (key, action) => {
      if (!busy.has(key)) tasks.start(key, action);
    });
  });
  await tasks.settled();
  log.info("watcher stops");
}

/** Starts an action beside the others, unless one of its key runs, or ran when the snapshot was taken. */
type Start = (key: string, action: () => Promise<void>) => void;

/** A thing to do, and the snapshot that says so. */
type Due<T> = { task: T; snapshot: Snapshot; start: Start };

class Watcher {
  readonly #options: WatcherOptions;
  readonly #executions: Executions;
  readonly #responder: Responder;
  readonly #auditor: Auditor;
  /** Neither a long audit may keep a game waiting, nor many games fill the memory: one execution at a time for each. */
  readonly #plays = new Lane<Due<GameTask>>();
  readonly #audits = new Lane<Due<AuditTask>>();
  /** The block of the latest own transaction about a game or claim: a snapshot of an earlier one does not show it. */
  readonly #acted = new Map<Hex, bigint>();
  /** The block of the snapshot at which the purse was found empty. */
  #shortAt: bigint | undefined;
  /** Claims and games on which a thing was told, so that it is told once. */
  readonly #told = new Set<Hex>();
  /** The latest failure of each claim: the same one is told once. It is tried again every round. */
  readonly #failures = new Map<Hex, string>();

  constructor(options: WatcherOptions) {
    const { session, programs, execute, keptBytes } = options;
    this.#options = options;
    this.#executions = new Executions(programs, execute, keptBytes);
    this.#auditor = new Auditor(this.#executions, session.deployment.parameters.arityBits);
    this.#responder = new Responder(session);
  }

  /** What need not be remembered of a job: all of one that is over, and the input of one that cannot be judged here. */
  readonly forget: Forget = (job, now) => {
    if (isOver(job, now, this.#options.session.sender.address)) return "all";
    return this.#executions.knows(job) ? "nothing" : "inputs";
  };

  round(snapshot: Snapshot, start: Start): void {
    const { session, mode } = this.#options;
    const { history, now } = snapshot;
    const { plays, audits, settles, lost } = schedule(history, session.sender.address, now, this.#auditor.secondsFor);
    this.#forget(snapshot);
    const due = <T>(tasks: T[]): Due<T>[] => tasks.map((task) => ({ task, snapshot, start }));
    this.#audits.renew(due(audits.filter(({ job, claim }) => !this.#auditor.isDone(job, claim))));
    start("audits", () => this.#audits.run((audit) => this.#attempt(audit.task, () => this.#audit(audit))));
    for (const { claim, game } of lost) this.#tellOnce(game.id, { kind: "lost", gameId: game.id, claimId: claim.id });
    if (mode === "watch") return;
    this.#plays.renew(due(plays).filter((play) => !this.#playIdle(play)));
    start("plays", () => this.#plays.run((play) => this.#attempt(play.task, () => this.#play(play))));
    for (const task of settles) start(task.game.id, () => this.#attempt(task, () => this.#settle(task)));
  }

  /** Judges a claim, and opens a game on it if it is wrong. The next one does not wait until the opening is mined. */
  async #audit({ task, snapshot, start }: Due<AuditTask>): Promise<void> {
    const { job, claim, lost } = task;
    if (this.#isStale(claim.id, snapshot)) return;
    const verdict = await this.#auditor.judge(job, claim, lost.length);
    this.#tellVerdict(task, verdict);
    if (verdict.kind !== "differs" || this.#options.mode === "watch" || this.#shortAt === snapshot.blockNumber) return;
    const { opening } = verdict;
    const last = lost.at(-1);
    if (last !== undefined && !(await this.#isLostByTheClock(last))) return;
    if (opening === undefined)
      throw new NoOpeningError(`${lost.length} games on this claim are lost, and no other can be opened`);
    const release = await this.#responder.reserve().catch((error: unknown) => {
      if (error instanceof BondError) this.#shortAt = snapshot.blockNumber;
      throw error;
    });
    let isOpening = false;
    start(claim.id, () => {
      isOpening = true;
      return this.#attempt(task, async () => {
        const receipt = await this.#responder.open(claim, opening);
        this.#acted.set(claim.id, receipt.blockNumber);
        this.#tell({ kind: "opened", claimId: claim.id, receipt });
      }).finally(release);
    });
    if (!isOpening) release();
  }

  /** Whether there is nothing to plan in a game: it is the worker's turn, and no trace is published. */
  #playIdle({ task, snapshot, start }: Due<GameTask>): boolean {
    const move = this.#options.tensors === undefined ? idleChallengerMove(task.game, snapshot.now) : undefined;
    if (move === undefined) return false;
    if (move.kind !== "wait") this.#send({ task, snapshot, start }, { move });
    return true;
  }

  /** Plans a move and has it made. The next game does not wait until it is mined, and the execution is let go. */
  async #play(play: Due<GameTask>): Promise<void> {
    const { task, snapshot } = play;
    if (this.#isStale(task.game.id, snapshot)) return;
    const { session, tensors } = this.#options;
    const { arityBits } = session.deployment.parameters;
    const planned = await this.#executions.use(task.job, (execution) =>
      planChallengerMove(task.claim, task.game, execution, { arityBits, now: snapshot.now, tensors }),
    );
    if (planned !== undefined) this.#send(play, planned);
  }

  #send({ task, snapshot, start }: Due<GameTask>, planned: Plan): void {
    const { claim, game } = task;
    if (this.#isStale(game.id, snapshot)) return;
    start(game.id, () =>
      this.#attempt(task, async () => {
        const disagreement = (error: Error): void => report(this.#options.log, error, "step proof");
        const played = await carryOut(this.#responder, claim, game, planned, disagreement);
        if (played === undefined) return;
        this.#acted.set(game.id, played.receipt.blockNumber);
        this.#tell({ kind: "moved", gameId: game.id, claimId: claim.id, ...played });
      }),
    );
  }

  async #settle({ claim, game }: GameTask): Promise<void> {
    const receipt = await this.#responder.settle(game);
    this.#tell({ kind: "settled", gameId: game.id, claimId: claim.id, receipt });
  }

  /** Whether a snapshot is older than one's own latest transaction about a claim or game. */
  #isStale(id: Hex, { blockNumber }: Snapshot): boolean {
    return (this.#acted.get(id) ?? -1n) > blockNumber;
  }

  async #attempt({ kind, claim }: GameTask | AuditTask, action: () => Promise<void>): Promise<void> {
    if (this.#options.signal.aborted) return;
    try {
      await action();
    } catch (error) {
      const { message } = error as Error;
      if (this.#failures.get(claim.id) === message) return;
      this.#failures.set(claim.id, message);
      report(this.#options.log, error, kind);
    }
  }

  /** Whether a lost game ran out of time; else it was conceded, because the chain's verifier had confirmed the claim. */
  async #isLostByTheClock(game: GameRecord): Promise<boolean> {
    const { publicClient } = this.#options.session;
    const { timestamp } = await publicClient.getBlock({ blockNumber: game.closed!.blockNumber });
    return overtime(stateOf(game), timestamp) > 0;
  }

  /** Lets go what was remembered of claims and games that are gone. */
  #forget({ history, blockNumber }: Snapshot): void {
    this.#auditor.forget(history);
    const isGone = (id: Hex): boolean => !history.claims.has(id) && !history.games.has(id);
    for (const remembered of [this.#told, this.#failures]) {
      if (remembered.size > REMEMBERED) for (const id of remembered.keys()) if (isGone(id)) remembered.delete(id);
    }
    for (const [id, block] of this.#acted) if (block <= blockNumber) this.#acted.delete(id);
  }

  #tellVerdict({ job, claim }: { job: { id: Hex }; claim: ClaimRecord }, verdict: Verdict): void {
    const ids = { jobId: job.id, claimId: claim.id };
    const { kind } = verdict;
    if (kind === "unknown") return this.#tellOnce(claim.id, { ...ids, kind, reason: verdict.reason });
    const { milliseconds } = verdict;
    if (kind === "agrees") return this.#tellOnce(claim.id, { ...ids, kind, milliseconds });
    this.#tellOnce(claim.id, { ...ids, kind, milliseconds, claimed: claim.claim.traceRoot, own: verdict.own });
  }

  #tellOnce(id: Hex, event: WatcherEvent): void {
    if (this.#told.has(id)) return;
    this.#told.add(id);
    this.#tell(event);
  }

  #tell(event: WatcherEvent): void {
    const { kind, ...rest } = event;
    const fields = Object.fromEntries(Object.entries(rest).filter(([key]) => key !== "receipt"));
    const gas = "receipt" in event ? { gas: Number(event.receipt.gasUsed) } : {};
    const level = kind === "differs" || kind === "lost" ? "warn" : "info";
    this.#options.log[level]({ ...fields, ...gas }, MESSAGES[kind]);
    this.#options.onEvent?.(event);
  }
}

/** Things told and failures that are remembered; those of claims and games that are gone are forgotten beyond it. */
const REMEMBERED = 10_000;

const MESSAGES: Record<WatcherEvent["kind"], string> = {
  agrees: "claim agrees with this machine's execution",
  differs: "WRONG CLAIM: it differs from this machine's execution",
  unknown: "claim cannot be judged here",
  opened: "game opened",
  moved: "move made",
  lost: "GAME LOST: the bond is gone",
  settled: "bond taken back",
};
