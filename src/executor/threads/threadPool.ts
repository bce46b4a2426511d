import type { Worker } from "node:worker_threads";
import { EngineFaultError, ExecutionThreadError } from "../errors.ts";
import type { Operation } from "../machine.ts";
import type { StageClock } from "../stages.ts";
import { Control, ControlWord } from "./poolMemory.ts";
import { ended, startThread, terminate } from "./engineThread.ts";
import type { HashJob } from "./hashJob.ts";
import type { FromWorker, TeamProgram, ToWorker, WorkerStart } from "./messages.ts";

/** How long the first thread looks for the others' results before it sleeps. */
const SPIN_MS = 0.05;

/** The sleeping time before a thread runs its event loop, which reports a worker's end. */
const SLEEP_MS = 200;
const POLL_MS = 5;

/** The code of the other threads: beside this file, built if this file is. Node strips types without a loader. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

/**
 * Threads that compute parts of steps together with the calling thread, and hash tensors for the commitment when they
 * have nothing to compute. A process has a single team for each number of threads. Executors share the team, and it
 * ends when the last executor releases it. Late workers cost nothing: the first thread takes their open parts.
 */
export class Team {
  static readonly #teams = new Map<number, Team>();
  readonly threads: number;
  readonly control: Control;
  readonly #workers: readonly Worker[];
  #holders = 0;
  #programs = 0;
  #hashBase = 0;
  #failure: ExecutionThreadError | EngineFaultError | undefined;
  #isEnding = false;
  #last: Promise<void> = Promise.resolve();

  private constructor(threads: number) {
    this.threads = threads;
    this.control = Control.forThreads(threads);
    this.#workers = Array.from({ length: threads - 1 }, (_, k) => this.#startWorker(k + 1));
  }

  /**
   * Returns the team with the given number of threads, and starts the team if necessary. Each call requires a matching
   * call to `release`.
   */
  static hold(threads: number): Team {
    let team = Team.#teams.get(threads);
    if (team === undefined || team.failure !== undefined) {
      team = new Team(threads);
      Team.#teams.set(threads, team);
    }
    team.#holders++;
    return team;
  }

  /** The failure that ended this team; undefined while it works. */
  get failure(): ExecutionThreadError | EngineFaultError | undefined {
    return this.#failure;
  }

  /** Releases the team. Resolves when all threads have ended, if this was the last holder. */
  async release(): Promise<void> {
    if (--this.#holders > 0) return;
    if (Team.#teams.get(this.threads) === this) Team.#teams.delete(this.threads);
    this.#isEnding = true;
    this.#post({ kind: "end" });
    await Promise.all(this.#workers.map(ended));
  }

  /**
   * Ends all threads by force; their jobs fail.
   * @param failure A worker thread's action, or its engine's fault.
   */
  abandon(failure: string | EngineFaultError): void {
    if (this.#isEnding) return;
    // A fault of the engine says more than the end of a thread, whichever comes first.
    if (typeof failure !== "string") this.#failure = failure;
    else this.#failure ??= new ExecutionThreadError(`a worker thread ${failure}; run the job again`);
    for (const worker of this.#workers) void terminate(worker);
  }

  /** Makes a program known to all threads. @returns its number */
  load(program: TeamProgram): number {
    this.#post({ kind: "load", number: ++this.#programs, ...program });
    return this.#programs;
  }

  unload(number: number): void {
    this.#post({ kind: "unload", number });
  }

  /** Whether every thread can compute a program. */
  canCompute(number: number): boolean {
    return this.#failure === undefined && this.control.haveLoaded(number);
  }

  /** Resolves when every thread can compute a program. @throws ExecutionThreadError */
  async loaded(number: number): Promise<void> {
    await this.#until(() => this.control.haveLoaded(number));
  }

  /** Resolves when the caller has the threads to itself; calling the result releases them. One job runs at a time. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    let leave = (): void => undefined;
    this.#last = new Promise<void>((resolve) => (leave = resolve));
    await before;
    this.control.write(ControlWord.running, 1);
    this.control.signal();
    return () => {
      this.control.write(ControlWord.running, 0);
      leave();
    };
  }

  /**
   * Computes the parts of a step, together.
   * @param parts As this thread computes them.
   * @param isEven Whether this thread takes only one part and leaves the rest to the others.
   * @returns A promise where the others take long.
   * @throws ExecutionThreadError
   */
  compute(
    program: number,
    step: number,
    parts: readonly Operation[],
    isEven: boolean,
    clock: StageClock,
  ): void | Promise<void> {
    const { control } = this;
    control.write(ControlWord.program, program);
    control.write(ControlWord.step, step);
    const before = control.read(ControlWord.finished);
    control.offer(parts.length);
    let own = 0;
    let problem: unknown;
    for (let part = control.take(); part !== undefined; part = control.take()) {
      own++;
      try {
        if (problem === undefined) void parts[part]!();
      } catch (error) {
        problem = error;
      }
      if (isEven && problem === undefined) break;
    }
    clock.enter("waiting");
    const target = (before + parts.length - own) | 0;
    const pending = this.#reached(ControlWord.finished, target);
    if (pending !== undefined) {
      return pending.then(conclude, (error: unknown) => {
        // This thread's own error takes priority: the error may be a fault, after which no job may run again.
        conclude();
        throw error;
      });
    }
    conclude();

    function conclude(): void {
      if (problem !== undefined) throw problem as Error;
    }
  }

  /**
   * Announces a job's hashes to all threads, with no unit ready. Drops the remaining units of an earlier, failed job.
   * @returns false if a thread does not finish its unit of the earlier job.
   */
  announceHashes({ layout, buffer }: HashJob): boolean {
    const { control } = this;
    while (control.takeHash() !== undefined) control.count(ControlWord.hashDone);
    this.#hashBase = control.read(ControlWord.hashReady);
    if (!this.#waitFor(ControlWord.hashDone, () => control.read(ControlWord.hashDone) === this.#hashBase)) return false;
    this.#post({ kind: "hash", base: this.#hashBase, layout, buffer });
    return true;
  }

  /** Lets idle threads hash the first `units` units of the job. */
  offerHashes(units: number): void {
    this.control.write(ControlWord.hashReady, (this.#hashBase + units) | 0);
    this.control.signal();
  }

  /**
   * Hashes the remaining units of a job together with the other threads.
   * @throws ExecutionThreadError
   */
  finishHashes(job: HashJob): void | Promise<void> {
    const { control } = this;
    // Units that nobody was woken for have little to hash.
    control.write(ControlWord.hashReady, (this.#hashBase + job.layout.units) | 0);
    for (let unit = control.takeHash(); unit !== undefined; unit = control.takeHash()) {
      job.hash((unit - this.#hashBase) | 0);
      control.count(ControlWord.hashDone);
    }
    return this.#reached(ControlWord.hashDone, (this.#hashBase + job.layout.units) | 0);
  }

  /** Waits until a word has a value; a promise where that takes long. */
  #reached(word: number, target: number): Promise<void> | undefined {
    const { control } = this;
    const isDone = (): boolean => control.read(word) === target;
    if (this.#waitFor(word, isDone) && control.read(ControlWord.failed) === 0) return undefined;
    return this.#until(() => isDone() && control.read(ControlWord.failed) === 0);
  }

  /** Waits for a limited time without running the event loop. */
  #waitFor(word: number, isDone: () => boolean): boolean {
    const { control } = this;
    const start = performance.now();
    while (performance.now() < start + SPIN_MS) for (let k = 0; k < 32; k++) if (isDone()) return true;
    control.write(ControlWord.awaited, 1);
    for (;;) {
      const value = control.read(word);
      const left = start + SLEEP_MS - performance.now();
      if (isDone() || left <= 0) break;
      Atomics.wait(control.words, word, value, left);
    }
    control.write(ControlWord.awaited, 0);
    return isDone();
  }

  /** Waits, without a time limit, for `isDone` or a failure. */
  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      if (this.#failure !== undefined) {
        // No worker may write into the memory while the next job is executed.
        await Promise.all(this.#workers.map(ended));
        throw this.#failure;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #startWorker(thread: number): Worker {
    const data: WorkerStart = { control: this.control.buffer, threads: this.threads, thread };
    const worker = startThread(WORKER, data);
    worker.on("message", (message: FromWorker) => {
      if ("fault" in message) this.abandon(new EngineFaultError(message.fault));
      else if ("reason" in message) this.abandon(`failed: ${message.reason}`);
    });
    worker.on("error", (error) => this.abandon(`failed: ${String(error.stack ?? error)}`));
    worker.on("exit", (code) => this.abandon(`ended with ${code}`));
    // Lets a process exit even without releasing its team.
    worker.unref();
    return worker;
  }

  #post(message: ToWorker): void {
    for (const worker of this.#workers) worker.postMessage(message);
    Atomics.add(this.control.words, ControlWord.messages, 1);
    this.control.signal();
  }
}
