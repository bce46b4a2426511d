import { EngineFaultError } from "../errors.ts";
import type { Program } from "../../program/types.ts";
import { partsOf } from "../plan/threadMachine.ts";
import type { Machine, Operation } from "../machine.ts";
import type { ProgramMemories } from "../memory/views.ts";
import type { PlanOptions } from "../plan/stepPlan.ts";
import type { ProgramPlan } from "../plan/planProgram.ts";
import type { CertificateStats } from "../certificateStats.ts";
import { STAGES } from "../stages.ts";
import type { Tally } from "./poolMemory.ts";
import type { HashJob } from "./hashJob.ts";
import { ControlWord } from "./poolMemory.ts";
import { Team } from "./threadPool.ts";

/**
 * The minimum length of a shared job, in steps worth splitting. Threads that have slept since the last job need as long
 * to wake up.
 */
const MIN_STEPS = 20;

/** The options of an executor's sharing. */
type SharingOptions = {
  /** The minimum length of a step worth splitting, in approximate nanoseconds. */
  minSplit: number;
  /** Whether a thread waits for the others to take their parts, instead of taking the parts of late threads. */
  isEven: boolean;
  /** Whether each result of the engine is checked. */
  checksAll: boolean;
};

/** The data that other threads need to plan and compute a program. */
type Shareable = { program: Program; options: PlanOptions; memories: ProgramMemories };

/**
 * One program's work, shared by a team's threads. Before the team starts, and after a thread has failed, nothing is
 * shared.
 */
export class SharedWork {
  readonly #threads: number;
  readonly #plan: ProgramPlan;
  readonly #machine: Machine;
  readonly #isEven: boolean;
  readonly #checksAll: boolean;
  readonly #parts: readonly number[];
  readonly #message: Shareable;
  #team: Team | undefined;
  #number = 0;
  /** The team that hashes the current job. */
  #hashingTeam: Team | undefined;
  #operations: readonly (readonly Operation[] | undefined)[] = [];
  #leave: (() => void) | undefined;
  #before: Tally[] = [];
  #began = 0;

  constructor(
    plan: ProgramPlan,
    machine: Machine,
    message: Shareable,
    { minSplit, isEven, checksAll }: SharingOptions,
  ) {
    this.#threads = message.options.threads;
    this.#plan = plan;
    this.#machine = machine;
    this.#message = message;
    this.#isEven = isEven;
    this.#checksAll = checksAll;
    const isSplit = (ns: number): boolean => ns > 0 && ns >= minSplit;
    const total = plan.nanoseconds.filter(isSplit).reduce((sum, ns) => sum + ns, 0);
    const isEnough = total >= MIN_STEPS * minSplit;
    this.#parts = plan.nanoseconds.map((ns) => (isEnough && isSplit(ns) ? this.#threads : 1));
  }

  /** Whether there are steps to share. */
  get splits(): boolean {
    return this.#parts.some((parts) => parts > 1);
  }

  /** A fault in another thread's engine. */
  get fault(): EngineFaultError | undefined {
    const failure = this.#team?.failure;
    return failure instanceof EngineFaultError ? failure : undefined;
  }

  get isStarted(): boolean {
    return this.#team !== undefined;
  }

  /** Starts the threads, which takes some hundred milliseconds. */
  start(): void {
    const { findings } = this.#plan;
    const { alwaysExact } = this.#machine;
    // If only one thread computes, a second thread hashes.
    this.#team = Team.hold(Math.max(2, this.#threads));
    if (!this.splits) return;
    const modes = { alwaysExact, checksAll: this.#checksAll };
    this.#number = this.#team.load({ ...this.#message, findings, ...modes, parts: this.#parts });
    this.#operations = partsOf(this.#plan, this.#machine, this.#parts);
  }

  /**
   * Resolves when all threads have started.
   * @throws ExecutionThreadError
   */
  async started(): Promise<void> {
    if (this.splits) await this.#team?.loaded(this.#number);
  }

  /** Resolves when this program has the threads, if they are started. The caller releases them after the job. */
  async enter(isProfiled: boolean): Promise<void> {
    if (this.#team === undefined || this.#leave !== undefined) return;
    this.#leave = await this.#team.acquire();
    this.#team.control.write(ControlWord.profiled, Number(isProfiled));
    this.#before = this.#tallies();
    this.#began = performance.now();
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** The operations of a step's parts, if the step is shared in the current job. */
  operationsOf(step: number): readonly Operation[] | undefined {
    return this.#leave !== undefined && this.#team?.canCompute(this.#number) === true
      ? this.#operations[step]
      : undefined;
  }

  /**
   * Computes a step together with the other threads.
   * @throws ExecutionThreadError
   */
  compute(step: number, operations: readonly Operation[]): void | Promise<void> {
    return this.#team!.compute(this.#number, step, operations, this.#isEven, this.#machine.clock);
  }

  /** Makes a job's hashes known to the other threads. */
  announceHashes(job: HashJob): void {
    const team = this.#leave === undefined || this.#team?.failure !== undefined ? undefined : this.#team;
    this.#hashingTeam = team?.announceHashes(job) === true ? team : undefined;
  }

  /** Lets other threads hash the first `units` units of the job. */
  offerHashes(units: number): void {
    this.#hashingTeam?.offerHashes(units);
  }

  /**
   * Hashes the remaining units of a job.
   * @throws ExecutionThreadError
   */
  finishHashes(job: HashJob): void | Promise<void> {
    this.#machine.clock.enter("hash");
    if (this.#hashingTeam !== undefined) return this.#hashingTeam.finishHashes(job);
    for (let unit = 0; unit < job.layout.units; unit++) job.hash(unit);
  }

  /** Adds the other threads' counts since `enter` to this thread's counts. */
  addCounts(stats: CertificateStats, milliseconds: Tally["milliseconds"]): void {
    if (this.#leave === undefined) return;
    const wall = performance.now() - this.#began;
    this.#tallies().forEach((tally, k) => {
      const before = this.#before[k];
      if (before === undefined) return;
      for (const name of Object.keys(stats) as (keyof CertificateStats)[])
        stats[name] += tally.stats[name] - before.stats[name];
      let busy = 0;
      for (const stage of STAGES) {
        const spent = tally.milliseconds[stage] - before.milliseconds[stage];
        milliseconds[stage] += spent;
        busy += spent;
      }
      if (busy > 0) milliseconds.waiting += wall - busy;
    });
  }

  async close(): Promise<void> {
    if (this.splits) this.#team?.unload(this.#number);
    await this.#team?.release();
    this.#team = undefined;
  }

  #tallies(): Tally[] {
    const { control } = this.#team ?? {};
    if (control === undefined) return [];
    return Array.from({ length: control.threads - 1 }, (_, k) => control.readTally(k + 1));
  }
}
