import type { Hex } from "viem";
import type { Logger } from "pino";
import type { KnownProgram } from "../src/chain/game/execution.ts";
import { overtime } from "../src/chain/game/hop.ts";
import { Executions, type Execute } from "../src/chain/game/executions.ts";
import { stateOf, type GameRecord } from "../src/chain/history.ts";
import { report, runLoop } from "../src/chain/loop.ts";
import { followMarket, type Session, type Snapshot } from "../src/chain/session.ts";
import type { TensorSource } from "../src/trace/published.ts";
import { audit, type Verdict } from "./auditor.ts";
import { Tasks } from "../src/chain/tasks.ts";
import type { WatcherEvent } from "./events.ts";
import { play } from "./player.ts";
import { Responder } from "./responder.ts";
import { schedule, type Task } from "./scheduler.ts";

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
 */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const { session, mode, log } = options;
  const watcher = new Watcher(options);
  const monitor = followMarket(session);
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

type Start = (key: string, action: () => Promise<void>) => void;

class Watcher {
  readonly #options: WatcherOptions;
  readonly #executions: Executions;
  readonly #responder: Responder;
  /** Claims on which a verdict was told, so that each is told once. */
  readonly #told = new Set<Hex>();
  /** Claims found right: the same content is not executed again. */
  readonly #agreed = new Set<Hex>();
  /** The audits that were started, one after the other. */
  #audits = Promise.resolve();

  readonly #failures = new Set<string>();

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#executions = new Executions(options.programs, options.execute);
    this.#responder = new Responder(options.session);
  }

  /** @param start Starts an action, each beside the others: neither a failure nor a long audit may keep a game waiting. */
  round({ history, now }: Snapshot, start: Start): void {
    const { session, mode } = this.#options;
    for (const task of schedule(history, session.sender.address, now)) {
      if (task.kind !== "audit") {
        if (mode === "defend") start(task.game.id, () => this.#attempt(task, now));
      } else if (!this.#agreed.has(task.claim.id)) {
        start(task.claim.id, () => {
          // One audit at a time: each may hold a whole execution.
          this.#audits = this.#audits.then(() => this.#attempt(task, now));
          return this.#audits;
        });
      }
    }
  }

  async #attempt(task: Task, now: bigint): Promise<void> {
    if (this.#options.signal.aborted) return;
    try {
      await this.#do(task, now);
    } catch (error) {
      this.#report(task, error);
    }
  }

  async #do(task: Task, now: bigint): Promise<void> {
    const { job, claim } = task;
    if (task.kind === "settle") {
      const receipt = await this.#responder.settle(task.game);
      return this.#tell({ kind: "settled", gameId: task.game.id, claimId: claim.id, receipt });
    }
    const verdict = await audit(this.#executions, job, claim);
    if (verdict.kind === "agrees") this.#agreed.add(claim.id);
    if (task.kind === "audit") this.#tellVerdict(task, verdict);
    if (verdict.kind === "unknown") return;
    if (task.kind === "play") {
      const { session, log, tensors } = this.#options;
      const played = await this.#executions.use(job, (execution) =>
        play(this.#responder, claim, task.game, execution, {
          arityBits: session.deployment.parameters.arityBits,
          now,
          tensors,
          onDisagreement: (error) => report(log, error, "step proof"),
        }),
      );
      if (played !== undefined) this.#tell({ kind: "moved", gameId: task.game.id, claimId: claim.id, ...played });
    } else if (verdict.kind === "differs" && this.#options.mode === "defend") {
      const last = task.lost.at(-1);
      if (last !== undefined && !(await this.#isLostByTheClock(last))) return;
      const receipt = await this.#responder.open(verdict.execution, claim, task.lost.length);
      this.#tell({ kind: "opened", claimId: claim.id, receipt });
    }
  }

  /** Whether a lost game ran out of time; else it was conceded, because the chain's verifier had confirmed the claim. */
  async #isLostByTheClock(game: GameRecord): Promise<boolean> {
    const { publicClient } = this.#options.session;
    const { timestamp } = await publicClient.getBlock({ blockNumber: game.closed!.blockNumber });
    return overtime(stateOf(game), timestamp) > 0;
  }

  /** The same failure of the same claim is reported once; it is tried again every round. */
  #report({ kind, claim }: Task, error: unknown): void {
    const failure = `${claim.id} ${(error as Error).message}`;
    if (this.#failures.has(failure)) return;
    this.#failures.add(failure);
    report(this.#options.log, error, kind);
  }

  #tellVerdict({ job, claim }: Task, verdict: Verdict): void {
    if (this.#told.has(claim.id)) return;
    this.#told.add(claim.id);
    const ids = { jobId: job.id, claimId: claim.id };
    if (verdict.kind === "unknown") return this.#tell({ ...ids, kind: "unknown", reason: verdict.reason });
    const { kind, milliseconds, execution } = verdict;
    if (kind === "agrees") return this.#tell({ ...ids, kind, milliseconds });
    this.#tell({ ...ids, kind, milliseconds, claimed: claim.claim.traceRoot, own: execution.trace.root });
  }

  #tell(event: WatcherEvent): void {
    const { kind, ...rest } = event;
    const fields = Object.fromEntries(Object.entries(rest).filter(([key]) => key !== "receipt"));
    const gas = "receipt" in event ? { gas: Number(event.receipt.gasUsed) } : {};
    const level = kind === "differs" ? "warn" : "info";
    this.#options.log[level]({ ...fields, ...gas }, MESSAGES[kind]);
    this.#options.onEvent?.(event);
  }
}

const MESSAGES: Record<WatcherEvent["kind"], string> = {
  agrees: "claim agrees with this machine's execution",
  differs: "WRONG CLAIM: it differs from this machine's execution",
  unknown: "claim cannot be judged here",
  opened: "game opened",
  moved: "move made",
  settled: "bond taken back",
};
