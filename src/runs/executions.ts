import type { Hex } from "viem";
import { getOrAdd } from "../base/getOrAdd.ts";
import { concatenated } from "../program/merkle/concatenated.ts";
import { MissingTensorsError, type Trace } from "../program/trace/trace.ts";
import { formOf } from "../chain/market/claimForm.ts";
import type { JobRecord } from "../chain/market/history.ts";
import { hasInputs, inputsOf } from "../chain/market/jobInputs.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import { ProgramUnavailableError } from "./errors.ts";
import type { OpenedOutput } from "../program/trace/openedOutput.ts";
import { statesFrom, type Said } from "./ahead.ts";
import { textGuess } from "./blocks.ts";
import { dueOf } from "./dueOf.ts";
import { executeRun, inputsOfItem, itemOf, withOrder, type ItemListener } from "./executeRun.ts";
import type { Execution, ProgramShape } from "../dispute/run/execution.ts";
import { ItemSweeps } from "./itemSweeps.ts";
import type { ProgramLibrary } from "./programLibrary.ts";
import { segmentsOf } from "../program/checkpoints.ts";
import { MissingItemsError, outputAt, RunExecution } from "../dispute/run/runExecution.ts";
import { readRunRoots } from "../dispute/run/runRoots.ts";
import { StoredRuns } from "./storedRuns.ts";
import { isOnGpu, onOneDevice, type Execute } from "./execute.ts";

/** Bytes of executions that are kept by default: 512 MiB. */
export const KEPT_BYTES = 2 ** 29;

/** An execution's approximate size in bytes, without tensors and trees. */
const OBJECT_BYTES = 2 ** 16;

/** Inputs for jobs whose bytes are not on chain. */
export type HeldInputs = {
  /** Those of a job: they must be those that it names. @returns undefined if they are not at hand, or not yet */
  of: (job: JobRecord) => RunInputs | undefined;
  /** Whether the inputs are available, by the cheapest possible check. */
  has?: (job: JobRecord) => boolean;
  /** Whether they may be at hand soon, and were not looked for before. */
  awaits?: (job: JobRecord) => boolean;
  /** Told all jobs that are known, now and then: what belongs to no other may go. */
  keep?: (jobs: ReadonlyMap<Hex, JobRecord>) => void;
};

type Kept = {
  execution: Promise<RunExecution>;
  /** The same, once it is there. */
  done?: RunExecution;
  /** Bytes of memory, measured at the last use. */
  bytes: number;
  /** How many use it now: meanwhile nothing of it is released. */
  users: number;
  /** Whether moves are made of it. */
  isPlayed: boolean;
  /** Whether the CPU repeats executions of a GPU. */
  isDoubted: boolean;
  /** Whether only others have asked for the execution: it stays only while room remains, and displaces nothing. */
  isForOthers: boolean;
};

/**
 * This process's own executions of jobs. The executions are only a cache: a missing execution is repeated from the
 * inputs on chain, and a restart loses nothing. While the cache is large enough, all games on a claim need a single
 * execution, plus an execution for each step range entered by games at the same time. Games at many items of a run need
 * a single sweep over the items, from the nearest kept states. A separate execution for each move of many games would
 * take longer than the clocks allow.
 */
export class Executions {
  readonly #programs: ProgramLibrary;
  readonly #execute: Execute;
  readonly #budget: number;
  /** Those asked for longest ago first. */
  readonly #kept = new Map<Hex, Kept>();
  /** The latest execution for tensors not kept, and its steps while it has not begun. */
  readonly #fills = new WeakMap<Trace, { last: Promise<void>; next: Set<number> | undefined }>();
  /** Requests waiting for a run's items that were not kept. */
  readonly #sweeps = new WeakMap<RunExecution, ItemSweeps>();
  /** The stored data that outlive the executions. */
  readonly stored: StoredRuns;
  /** Called with each item of a job that carries state, at the item's first execution. */
  onItem: ((job: JobRecord, ...of: Parameters<ItemListener>) => void) | undefined;
  readonly #held: HeldInputs | undefined;
  /** Where the kept executions were computed. */
  #device: string | undefined;

  /**
   * @param budget Bytes of kept executions, in addition to executions in use. The latest execution is kept at any
   *   size.
   * @param held Inputs held locally, for jobs without published inputs.
   */
  constructor(
    programs: ProgramLibrary,
    execute: Execute,
    budget = KEPT_BYTES,
    stored = new StoredRuns(),
    held?: HeldInputs,
  ) {
    [this.#budget, this.stored, this.#held] = [budget, stored, held];
    this.#programs = programs;
    this.#execute = execute;
    this.#device = execute.device?.();
  }

  /** Bytes of the executions that are kept. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#kept.values()) sum += bytes;
    return sum;
  }

  /** Whether the job's program is known: one that was compiled here. */
  knows({ job }: Pick<JobRecord, "job">): boolean {
    return this.#programs.knows(job.programRoot);
  }

  /** Whether the job's program is not known, but may be soon. */
  awaits({ job }: Pick<JobRecord, "job">): boolean {
    return this.#programs.awaits(job.programRoot);
  }

  /** Returns the properties that follow from the program's size. @returns undefined for an unknown program. */
  shapeOf({ job }: Pick<JobRecord, "job">): ProgramShape | undefined {
    return this.#programs.shapeOf(job.programRoot);
  }

  /**
   * Loads the job's program into memory: executing the job then waits for nothing.
   * @returns false for an unknown program.
   * @throws ProgramUnavailableError
   */
  async prepare({ job }: Pick<JobRecord, "job">): Promise<boolean> {
    return (await this.#programs.load(job.programRoot)) !== undefined;
  }

  /** Returns whether the job can be executed: the program is known, and all input bytes are available. */
  canExecute(job: JobRecord): boolean {
    return this.#kept.has(job.id) || (this.knows(job) && this.hasInputs(job));
  }

  /** Whether the job's input bytes are all on chain, or held here. */
  hasInputs(job: JobRecord): boolean {
    if (hasInputs(job)) return true;
    return this.#held?.has?.(job) ?? this.#held?.of(job) !== undefined;
  }

  /** Returns the job's inputs from the chain, or the inputs held here. @returns undefined for unavailable inputs */
  inputsOf(job: JobRecord): RunInputs | undefined {
    return inputsOf(job) ?? this.#held?.of(job);
  }

  /** Whether the job's program is known, and its inputs may be at hand soon. */
  awaitsInputs(job: JobRecord): boolean {
    return this.knows(job) && !hasInputs(job) && this.#held?.awaits?.(job) === true;
  }

  /** Releases an execution with all stored data: the next request executes the job anew. */
  drop({ id }: JobRecord): void {
    this.#kept.delete(id);
    this.stored.delete(id);
  }

  /**
   * Returns a job's execution. Executions without moves are released first: audits therefore do not displace executions
   * that a game needs.
   * @param said What somebody says about the run: true answers make it faster, others change nothing.
   * @returns undefined for an unknown program, or if input bytes are missing.
   * @throws ExecutionInputError, ProgramUnavailableError
   */
  async of(job: JobRecord, said?: Said): Promise<RunExecution | undefined> {
    return this.#find(job, { said })?.execution;
  }

  /**
   * Executes a job again after a difference from a claim, if a GPU may have made the difference: the CPU repeats
   * everything.
   * @returns undefined if the CPU has executed the job, and where {@link of} returns undefined.
   */
  async again(job: JobRecord): Promise<RunExecution | undefined> {
    if (!isOnGpu(this.#execute) || this.#kept.get(job.id)?.isDoubted === true) return undefined;
    this.drop(job);
    return this.#find(job, { isDoubted: true })?.execution;
  }

  /**
   * Runs an action with an execution. If the action needs tensors or items not kept, they are executed again (tensors
   * with their segments), and `action` begins anew. The action must therefore ask for them before any other effect.
   * They are released when room is short.
   * @returns undefined without an execution: see {@link of}.
   */
  async use<T>(job: JobRecord, action: (execution: RunExecution) => T | Promise<T>): Promise<T | undefined> {
    const kept = this.#find(job, { isDoubted: true });
    if (kept === undefined) return undefined;
    kept.users++;
    kept.isPlayed = true;
    let endTurn = (): void => undefined;
    const items = new Set<number>();
    try {
      const execution = await kept.execution;
      for (;;) {
        try {
          return await action(execution);
        } catch (error) {
          if (error instanceof MissingItemsError) {
            endTurn();
            for (const item of error.items) items.add(item);
            endTurn = await this.#sweepsOf(job, kept, execution).reach([...items]);
          } else if (error instanceof MissingTensorsError) {
            await this.#fill(job, kept, execution.ofTrace(error.trace), error.steps);
            error.trace.require(error.steps);
          } else throw error;
        }
      }
    } finally {
      endTurn();
      kept.users--;
      this.#measure(kept);
    }
  }

  /**
   * Returns one tensor from a job's execution, for others. If needed, a single item is executed for the tensor, after
   * earlier items from the nearest kept state. Nothing is kept: requests from others displace nothing that a game
   * needs.
   * @returns undefined for a missing item or step, or without an execution: see {@link of}. Also undefined for an
   *   item that takes state from the previous item, unless the job was executed.
   */
  async tensor(job: JobRecord, item: number, step: number): Promise<Uint8Array | undefined> {
    const program = await this.#programs.load(job.job.programRoot);
    if (program === undefined || !(step in program.model.program.steps) || item >= job.job.items) return undefined;
    const stored = this.stored.of(job, program.model.program);
    const isExecuted = this.#kept.get(job.id)?.done !== undefined || (await stored.readRoots()) !== undefined;
    const run = isExecuted ? await this.#find(job, { isForOthers: true })?.execution : undefined;
    const own = run?.missing([item]).length === 0 ? run.item(item) : undefined;
    if (own?.trace.missing([step]).length === 0) return own.trace.tensor(step);
    if (run === undefined && stored.isCarried && item > 0) return undefined;
    const inputs = own?.inputs ?? (run ? await inputsOfItem(run, item, this.#execute) : this.inputsOf(job)?.of(item));
    return inputs && (await this.#execute(program.model, inputs, (s) => s === step))[step];
  }

  /**
   * Returns an item's output with the output's path, for others. Executions for others do not displace executions
   * needed by a game. If the run was executed before, only the item is executed, after earlier items from the nearest
   * kept state.
   * @returns undefined for a missing item or output, if the claim does not contain the item's outputs, or without an
   *   execution: see {@link of}.
   */
  async output(job: JobRecord, item: number, output: number): Promise<OpenedOutput | undefined> {
    const run = item < job.job.items ? await this.#find(job, { isForOthers: true })?.execution : undefined;
    if (run === undefined || !(output in run.program.model.program.outputs)) return undefined;
    const execution = await itemOf(run, item, this.#execute);
    return outputAt(run, item, execution.trace, output);
  }

  /**
   * Returns the carried tensors before an item, for others, concatenated in the order of the inputs; executes nothing.
   * @returns undefined unless the state is kept
   */
  async state(job: JobRecord, item: number): Promise<Uint8Array | undefined> {
    const { program } = (await this.#programs.load(job.job.programRoot))?.model ?? {};
    const kept = program && (await this.stored.of(job, program).nearest(item, item - 1));
    return kept && concatenated(program.inputs.flatMap((_, k) => kept.carried.get(k) ?? []));
  }

  #find(
    job: JobRecord,
    { isForOthers = false, isDoubted = false, said }: { isForOthers?: boolean; isDoubted?: boolean; said?: Said },
  ): Kept | undefined {
    this.#leaveDevice();
    const known = this.#kept.get(job.id);
    if (known !== undefined) {
      if (isForOthers) return known;
      known.isForOthers = false;
      this.#kept.delete(job.id);
      this.#kept.set(job.id, known);
      return known;
    }
    const inputs = this.knows(job) ? this.inputsOf(job) : undefined;
    if (inputs === undefined) return undefined;
    const execution = this.#run(job, inputs, isDoubted, said);
    const kept: Kept = { execution, bytes: 0, users: 0, isPlayed: false, isDoubted, isForOthers };
    this.#kept.set(job.id, kept);
    kept.execution.then(
      (execution) => {
        kept.done = execution;
        this.#measure(kept);
      },
      () => {
        if (this.#kept.get(job.id) === kept) this.#kept.delete(job.id);
      },
    );
    return kept;
  }

  /** Measures an execution, and releases other executions if room is short. */
  #measure(kept: Kept): void {
    kept.bytes = bytesOf(kept);
    let excess = this.bytes - this.#budget;
    if (excess <= 0) return;
    if (kept.isForOthers) {
      // SAFETY: anybody may ask. Else old claims, asked for in turns, would displace what games with clocks need.
      for (const [id, one] of this.#kept) if (one === kept) this.#evict(id);
      return;
    }
    const latest = [...this.#kept.values()].findLast(({ isForOthers }) => !isForOthers);
    const idle = [...this.#kept].filter(([, one]) => one !== latest && one.users === 0 && one.done !== undefined);
    const played = idle.filter(([, { isPlayed }]) => isPlayed);
    const release = ([id, { bytes }]: [Hex, Kept]): void => {
      if (excess <= 0) return;
      this.#evict(id);
      excess -= bytes;
    };
    idle.filter(([, { isPlayed }]) => !isPlayed).forEach(release);
    for (const [, one] of played) {
      if (excess <= 0) return;
      one.done!.release();
      excess -= one.bytes - bytesOf(one);
      one.bytes = bytesOf(one);
    }
    played.forEach(release);
  }

  /** Releases an execution. Its stored data save a full execution later. */
  #evict(id: Hex): void {
    this.#kept.delete(id);
    this.stored.release(id);
  }

  /**
   * Executes a job again for tensors not kept. All requests that arrive during an execution share the next execution:
   * many games over one claim, with running clocks, must not wait for one execution each.
   */
  #fill(job: JobRecord, kept: Kept, { model, inputs, trace }: Execution, steps: readonly number[]): Promise<void> {
    const { last, next } = this.#fills.get(trace) ?? { last: Promise.resolve(), next: undefined };
    if (next !== undefined) {
      for (const step of steps) next.add(step);
      return last;
    }
    const needed = new Set(steps);
    const filled = last
      .catch(() => undefined)
      .then(async () => {
        this.#fills.set(trace, { last: filled, next: undefined });
        const missing = trace.missing([...needed]);
        if (missing.length === 0) return;
        const wanted = new Set(trace.missing([...segmentsOf(model.program, missing)]));
        trace.hold(await this.#executeFor(job, kept)(model, inputs, (step) => wanted.has(step)));
      });
    this.#fills.set(trace, { last: filled, next: needed });
    return filled;
  }

  #sweepsOf(job: JobRecord, kept: Kept, run: RunExecution): ItemSweeps {
    return getOrAdd(this.#sweeps, run, () => {
      const hasRoom = (): boolean => this.bytes - kept.bytes + run.bytes <= this.#budget;
      return new ItemSweeps(run, this.#executeFor(job, kept), hasRoom);
    });
  }

  /** Executes for a job. Jobs due sooner come first. Each request reads the due time anew. */
  #executeFor(job: JobRecord, { isDoubted }: Pick<Kept, "isDoubted">): Execute {
    return withOrder(this.#execute, (order) => ({ ...order, due: dueOf(job), isDoubted }));
  }

  /** Returns a job's execution, or the kept parts of an execution without its items. */
  #run(record: JobRecord, inputs: RunInputs, isDoubted: boolean, said?: Said): Promise<RunExecution> {
    return onOneDevice(this.#execute, () => {
      this.#leaveDevice();
      return this.#runOnce(record, inputs, isDoubted, said);
    });
  }

  /** Drops all results of a device that was found wrong. Executions that still run begin anew by themselves. */
  #leaveDevice(): void {
    const device = this.#execute.device?.();
    if (device === this.#device) return;
    this.#device = device;
    for (const [id, { done }] of this.#kept) if (done !== undefined) this.#kept.delete(id);
    this.stored.forget(new Map());
  }

  async #runOnce(record: JobRecord, inputs: RunInputs, isDoubted: boolean, said?: Said): Promise<RunExecution> {
    const { programRoot } = record.job;
    const program = await this.#programs.load(programRoot);
    if (program === undefined) throw new ProgramUnavailableError(`program ${programRoot} is not known any more`);
    const stored = this.stored.of(record, program.model.program);
    const options = { stored, form: formOf(record.job) };
    const bytes = await stored.readRoots();
    if (bytes === undefined) {
      const isBlocked = (this.#execute.block ?? this.#execute.stretch) !== undefined;
      const guess = isBlocked && said ? await textGuess(program.model, inputs, said.output) : undefined;
      const execute = this.#executeFor(record, { isDoubted });
      const secondsLeft = (): number => dueOf(record) - Date.now() / 1_000;
      const states = said && statesFrom(program.model.program, options.form, said, secondsLeft);
      return executeRun(program, inputs, execute, { ...options, guess, states }, (...of) =>
        this.onItem?.(record, ...of),
      );
    }
    return new RunExecution(program, inputs, readRunRoots(program.model.program, inputs.length.items, bytes), options);
  }
}

const bytesOf = ({ done }: Kept): number => (done === undefined ? 0 : done.bytes + OBJECT_BYTES);
