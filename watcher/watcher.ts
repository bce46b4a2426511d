import type { Hex } from "viem";
import { TransactionRevertedError } from "../src/chain/errors.ts";
import { isOver, type Forget } from "../src/chain/market/forget.ts";
import { overtime } from "../src/chain/market/clock.ts";
import type { Executions } from "../src/runs/executions.ts";
import { isOpen, stateOf, type ClaimRecord, type GameRecord } from "../src/chain/market/history.ts";
import { Lane } from "../src/parties/role/lane.ts";
import { requirePlainAccountAtStart } from "../src/parties/role/plainAccount.ts";
import { NativeJobs } from "../src/runs/native/nativeJobs.ts";
import { Races } from "../src/parties/role/races.ts";
import { Role, type Duty, type LogLine, type RoundSnapshot, type Start } from "../src/parties/role/role.ts";
import { Auditor, type Verdict } from "./auditor.ts";
import type { WatcherEvent } from "./events.ts";
import { ExamAudits } from "./examAudits.ts";
import { Judging } from "./verdictQueue.ts";
import { idleChallengerMove, planChallengerMove, type PlannedMove } from "../src/dispute/challengerPlan.ts";
import { sendPlannedMove } from "./sendPlannedMove.ts";
import { BondError, Responder } from "./responder.ts";
import { schedule, type AuditTask, type GameTask } from "./scheduler.ts";
import { WatcherFunds } from "./funds.ts";
import type { WatcherOptions } from "./options.ts";

/**
 * Runs a watcher until the signal. A round schedules tasks from the market's history: audits of claims, and moves in
 * the watcher's games. The watcher may stop in the middle of a game and start again.
 * @throws NotPlainAccountError if the watcher defends and its account has code
 */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const { mode, session, programs } = options;
  const defends = mode === "defend";
  if (defends) await requirePlainAccountAtStart(session);
  const role = new Role<WatcherEvent>("watcher", options, watcherLine);
  const watching = new Watching(options, role);
  const money = new WatcherFunds(session, programs);
  await role.run({
    facts: { mode },
    markets: [{ session, duties: [watching, runsOnDisk(role)] }],
    needsPlainAccountTo: defends ? "open games" : undefined,
    checkFunds: defends ? (funds, snapshot) => role.health.set("pays", money.problem(funds, snapshot)) : undefined,
  });
}

/** Says whether the data of executions can be kept on disk. */
const runsOnDisk = ({ health, executions }: Role<WatcherEvent>): Duty => ({
  conditions: ["runsOnDisk"],
  forget: () => "all",
  round: () => health.set("runsOnDisk", executions.stored.problem),
});

/** Returns how an event of a watcher is logged. */
export const watcherLine = ({ kind }: WatcherEvent): LogLine => ({
  level: WARNINGS.has(kind) ? "warn" : "info",
  message: MESSAGES[kind],
});

/** A task, and the snapshot that requires it. */
type Due<T> = { task: T; snapshot: RoundSnapshot; start: Start };

/** The facts for watching, besides the role with this duty. */
type WatchingOptions = Omit<WatcherOptions, "onEvent" | "intervalMs">;

/** A watcher's duty in a role: it audits claims and plays games against wrong ones. A worker may have it too. */
export class Watching implements Duty {
  readonly #options: WatchingOptions;
  readonly #role: Role<WatcherEvent>;
  readonly #executions: Executions;
  readonly #races: Races;
  readonly #responder: Responder;
  readonly #auditor: Auditor;
  readonly #judging: Judging;
  readonly #exams: ExamAudits | undefined;
  /**
   * One execution at a time for games and one for audits (or `atOnce`): a long audit delays no game, and many games do
   * not fill the memory.
   */
  readonly #plays = new Lane<Due<GameTask>>();
  readonly #audits = new Lane<Due<AuditTask>>();
  /**
   * The block of the latest own transaction about a game or claim. A snapshot of an earlier block does not show the
   * transaction.
   */
  readonly #acted = new Map<Hex, bigint>();
  /**
   * Games in which a proof from a published tensor reverted while it was the worker's turn: the worker can reveal
   * first, and the proof's calldata is lost. It gets no second chance.
   */
  readonly #baited = new Set<Hex>();
  /** Whether it had games to play in the latest round. */
  #isPlaying = false;
  /** The block of the snapshot at which the credit did not cover a bond. */
  #noBondAt: bigint | undefined;

  constructor(options: WatchingOptions, role: Role<WatcherEvent>) {
    const { session } = options;
    this.#options = options;
    this.#races = new Races(options.log);
    this.#role = role;
    this.#executions = this.#role.executions;
    const { native, log } = options;
    const { meter, health } = this.#role;
    const { rate } = session.deployment.parameters;
    const jobs = native && new NativeJobs(native, { log, meter, health, rate });
    const { outputs, snapshots } = options;
    this.#auditor = new Auditor(this.#executions, session.deployment.parameters.arityBits, jobs, {
      ...{ outputs, snapshots },
      isPlaying: () => this.#isPlaying,
    });
    this.#responder = new Responder(session);
    this.#judging = new Judging(this.#role.health, this.#role.meter);
    this.#exams = options.exams && new ExamAudits(options, options.exams, this.#role);
  }

  /**
   * Forgets finished jobs completely, and the input of jobs that cannot be judged here or have nothing to judge:
   * anybody may post any number of jobs. The input is read again after a submission.
   */
  readonly forget: Forget = (job, now) => {
    const { sender, deployment } = this.#options.session;
    if (isOver(job, now, sender.address, deployment.parameters.baseClock)) return "all";
    const isJudged = job.claims.some(
      (claim) => isOpen(claim) && (now <= claim.windowEnd || claim.games.some(({ closed }) => closed === undefined)),
    );
    return isJudged && (this.#executions.knows(job) || this.#executions.awaits(job)) ? "nothing" : "inputs";
  };

  /** Starts the audits and the moves that a snapshot asks for. */
  readonly round = (snapshot: RoundSnapshot, start: Start): void => {
    const { session, mode, claims } = this.#options;
    const { history, now } = snapshot;
    const scheduled = schedule(history, session.sender.address, now, this.#auditor.secondsFor);
    const { plays, settles, lost } = scheduled;
    this.#isPlaying = mode === "defend" && plays.length > 0;
    const audits = scheduled.audits.filter(({ claim }) => claims?.has(claim.id) ?? true);
    this.#forgetPast(snapshot);
    const due = <T>(tasks: T[]): Due<T>[] => tasks.map((task) => ({ task, snapshot, start }));
    this.#options.programs.want([...plays, ...audits].map(({ job }) => job.job.programRoot));
    // The watcher does not report a claim as unknown while the program or inputs may soon arrive.
    const undecided = audits.filter(
      ({ job, claim }) => !this.#auditor.isDone(job, claim) && !this.#executions.awaits(job),
    );
    const toJudge = undecided.filter(({ job }) => !this.#executions.awaitsInputs(job));
    const late = undecided.filter((audit) => !this.#auditor.hasVerdict(audit.claim) && isLate(audit, now));
    this.#judging.keep(
      new Set(audits.map(({ claim }) => claim.id)),
      late.map(({ claim }) => claim.id),
      [...history.unread].filter(([, windowEnd]) => now <= windowEnd).map(([id]) => id),
    );
    this.#audits.renew(due(toJudge));
    const exams = this.#exams;
    if (exams !== undefined) start("exams", () => this.#role.attempt("auditing exams", "", () => exams.tend(now)));
    const judge = (audit: Due<AuditTask>): Promise<void> => this.#attempt(audit, () => this.#audit(audit));
    for (let lane = 0; lane < (this.#options.atOnce ?? 1); lane++)
      start(`audits ${lane}`, () => this.#audits.run(judge, ({ task }) => task.claim.id));
    for (const { claim, game } of lost) this.#reportOnce(game.id, { kind: "lost", gameId: game.id, claimId: claim.id });
    if (mode === "watch") return;
    this.#plays.renew(due(plays).filter((play) => !this.#playIdle(play)));
    start("plays", () => this.#plays.run((play) => this.#attempt(play, () => this.#play(play))));
    // Only a plain account settles: the bond stays until it is one again.
    for (const task of snapshot.isPlain ? settles : [])
      start(task.game.id, () => this.#attempt({ task, snapshot }, () => this.#settle(task)));
  };

  /** Judges a claim, and opens a game on a wrong claim. The next claim does not wait until the opening is mined. */
  async #audit({ task, snapshot, start }: Due<AuditTask>): Promise<void> {
    const { job, claim, lost } = task;
    if (this.#isStale(claim.id, snapshot)) return;
    const verdict = await this.#judging.take(claim.id, () => this.#auditor.judge(job, claim, lost.length));
    this.#reportVerdict(task, verdict);
    if (verdict.kind !== "differs" || this.#options.mode === "watch" || this.#noBondAt === snapshot.blockNumber) return;
    // A game pays nothing for moves to an account with code.
    if (!snapshot.isPlain || !this.#judging.isTrusted(job.job.programRoot)) return;
    const { opening } = verdict;
    const last = lost.at(-1);
    if (last !== undefined && !(await this.#isLostByTheClock(last))) return;
    const release = await this.#responder.reserve().catch((error: unknown) => {
      if (error instanceof BondError) this.#noBondAt = snapshot.blockNumber;
      throw error;
    });
    let isOpening = false;
    start(claim.id, () => {
      isOpening = true;
      return this.#attempt({ task, snapshot }, async () => {
        const receipt = await this.#responder.open(claim, nextNumber(lost), opening);
        this.#acted.set(claim.id, receipt.blockNumber);
        this.#role.report({ kind: "opened", claimId: claim.id, receipt });
      }).finally(release);
    });
    if (!isOpening) release();
  }

  /** Returns whether a game needs no planning: the worker must move, and no trace is published. */
  #playIdle({ task, snapshot, start }: Due<GameTask>): boolean {
    const mayProve = this.#options.tensors !== undefined && !this.#baited.has(task.game.id);
    const move = mayProve ? undefined : idleChallengerMove(task.game, snapshot.now);
    if (move === undefined) return false;
    if (move.kind !== "wait") this.#send({ task, snapshot, start }, { move });
    return true;
  }

  /**
   * Plans a move and has it made. The next game does not wait until the move is mined, and the execution is released.
   */
  async #play(play: Due<GameTask>): Promise<void> {
    const { task, snapshot } = play;
    if (this.#isStale(task.game.id, snapshot)) return;
    const { session, tensors } = this.#options;
    const { arityBits, maxStepBytes } = session.deployment.parameters;
    const options = { arityBits, maxStepBytes, now: snapshot.now, tensors };
    const planned = await this.#executions.use(task.job, (execution) =>
      planChallengerMove(task.claim, task.game, execution, options),
    );
    if (planned !== undefined) this.#send(play, planned);
  }

  #send({ task, snapshot, start }: Due<GameTask>, planned: PlannedMove): void {
    const { claim, game } = task;
    if (this.#isStale(game.id, snapshot)) return;
    start(game.id, () =>
      this.#attempt({ task, snapshot }, async () => {
        const disagreement = (error: Error): void => {
          this.#role.logError(error, "step proof");
          this.#executions.drop(task.job);
          this.#judging.refuted(task.job.job.programRoot, error);
        };
        const played = await sendPlannedMove(this.#responder, claim, game, planned, disagreement).catch(
          (error: unknown) => {
            const isEarly = planned.shortcut !== undefined && planned.move.kind === "wait";
            if (isEarly && error instanceof TransactionRevertedError) this.#baited.add(game.id);
            throw error;
          },
        );
        if (played === undefined) return;
        this.#acted.set(game.id, played.receipt.blockNumber);
        this.#role.report({ kind: "moved", gameId: game.id, claimId: claim.id, ...played });
      }),
    );
  }

  async #settle({ claim, game }: GameTask): Promise<void> {
    const receipt = await this.#responder.settle(game);
    this.#role.report({ kind: "settled", gameId: game.id, claimId: claim.id, receipt });
  }

  /** Whether a snapshot is older than the watcher's latest transaction about a claim or game. */
  #isStale(id: Hex, { blockNumber }: RoundSnapshot): boolean {
    return (this.#acted.get(id) ?? -1n) > blockNumber;
  }

  /** A claim's repeated identical failure is logged only once. */
  #attempt(
    { task, snapshot }: Pick<Due<GameTask | AuditTask>, "task" | "snapshot">,
    action: () => Promise<void>,
  ): Promise<void> {
    const { kind, claim } = task;
    const { blockNumber } = snapshot;
    return this.#role.attempt(kind, claim.id, () => this.#races.run(kind, claim.id, blockNumber, action), "failure");
  }

  /**
   * Whether a lost game ran out of time; else it was conceded, because the chain's verifier had confirmed the claim.
   */
  async #isLostByTheClock(game: GameRecord): Promise<boolean> {
    const { publicClient } = this.#options.session;
    const { timestamp } = await publicClient.getBlock({ blockNumber: game.closed!.blockNumber });
    return overtime(stateOf(game), timestamp) > 0;
  }

  /** Forgets removed claims' records, and own transactions found in the snapshot. */
  #forgetPast({ history, blockNumber }: RoundSnapshot): void {
    this.#auditor.forget(history);
    for (const [id, block] of this.#acted) if (block <= blockNumber) this.#acted.delete(id);
    for (const id of this.#baited) if (!history.games.has(id)) this.#baited.delete(id);
  }

  #reportVerdict({ job, claim }: { job: { id: Hex }; claim: ClaimRecord }, verdict: Verdict): void {
    const ids = { jobId: job.id, claimId: claim.id };
    const { kind } = verdict;
    if (kind === "unknown") return this.#reportOnce(claim.id, { ...ids, kind, reason: verdict.reason });
    const { milliseconds } = verdict;
    if (kind === "agrees") return this.#reportOnce(claim.id, { ...ids, kind, root: claim.claim.root, milliseconds });
    this.#reportOnce(claim.id, { ...ids, kind, milliseconds, claimed: claim.claim.root, own: verdict.own });
  }

  /** Reports an event about a claim or game, unless the latest event about it was of the same kind. */
  #reportOnce(id: Hex, event: WatcherEvent): void {
    if (this.#role.isNew("event", id, event.kind)) this.#role.report(event);
  }
}

/** Whether three quarters of a claim's window are over. */
const isLate = ({ job, claim }: AuditTask, now: bigint): boolean =>
  4n * (claim.windowEnd - now) < BigInt(job.job.window);

/** The least number that none of the watcher's earlier games on a claim has. */
function nextNumber(games: readonly GameRecord[]): number {
  const taken = new Set(games.map((game) => stateOf(game).number));
  let number = 0;
  while (taken.has(number)) number++;
  return number;
}

const WARNINGS: ReadonlySet<WatcherEvent["kind"]> = new Set(["differs", "lost", "examDiffers"]);

const MESSAGES: Record<WatcherEvent["kind"], string> = {
  agrees: "claim agrees with this machine's execution",
  differs: "WRONG CLAIM: it differs from this machine's execution",
  unknown: "claim cannot be judged here",
  opened: "game opened",
  moved: "move made",
  lost: "GAME LOST: the bond is gone",
  settled: "bond taken back",
  examAgrees: "exam agrees with this machine's execution",
  examDiffers: "WRONG EXAM: its root differs from this machine's execution",
  examChallenged: "exam put on chain as a claim",
};
