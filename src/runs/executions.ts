import type { Hex } from "viem";
import type { Program } from "../program/types.ts";
import { getOrAdd } from "../base/getOrAdd.ts";
import { MissingTensorsError, type Trace } from "../program/trace/trace.ts";
import { formOf } from "../chain/market/claimForm.ts";
import type { JobRecord } from "../chain/market/history.ts";
import { hasInputs, inputsOf } from "../chain/market/jobInputs.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import { ProgramUnavailableError } from "./errors.ts";
import type { OpenedOutput } from "../program/trace/openedOutput.ts";
import { dueOf } from "./dueOf.ts";
import { executeRun, inputsOfItem, itemOf, withOrder, type ItemListener } from "./executeRun.ts";
import type { Execution, ProgramShape } from "../dispute/run/execution.ts";
import { ItemSweeps } from "./itemSweeps.ts";
import type { ProgramLibrary } from "./programLibrary.ts";
import { MissingItemsError, outputAt, RunExecution } from "../dispute/run/runExecution.ts";
import { readRunRoots } from "../dispute/run/runRoots.ts";
import { StoredRuns } from "./storedRuns.ts";
import type { Execute } from "./execute.ts";

/** Bytes of executions that are kept by default: 512 MiB. */
export const KEPT_BYTES = 2 ** 29;

/** Roughly what an execution takes besides its tensors and trees. */
const OBJECT_BYTES = 2 ** 16;

/** Inputs of jobs whose bytes are not on chain. */
export type HeldInputs = {
  /** Those of a job: they must be those that it names. @returns undefined if they are not at hand, or not yet */
  of: (job: JobRecord) => RunInputs | undefined;
  /** Whether they are at hand, as cheaply as can be known. */
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
  /** Bytes of memory, as measured when it was used last. */
  bytes: number;
  /** How many use it now: meanwhile nothing of it is released. */
  users: number;
  /** Whether moves are made of it. */
  isPlayed: boolean;
  /** Whether only others have asked for it: it is kept as long as there is room for it, and displaces nothing. */
  isForOthers: boolean;
};

/**
 * One's own executions of jobs. This is a cache only: what is not in it is executed again from the inputs on chain, so
 * a restart loses nothing. As long as it is large enough, all games on a claim take one execution, and one more for
 * each range of steps that some of them enter at the same time. Games at many items of a run take one sweep over these
 * from the nearest states that are kept. An execution for each move of many games would take longer than their clocks
 * allow.
 */
export class Executions {
  readonly #programs: ProgramLibrary;
  readonly #execute: Execute;
  readonly #budget: number;
  /** Those asked for longest ago first. */
  readonly #kept = new Map<Hex, Kept>();
  /** The latest execution for tensors that were not kept, and the steps that it is for while it has not begun. */
  readonly #fills = new WeakMap<Trace, { last: Promise<void>; next: Set<number> | undefined }>();
  /** Those who wait for items of a run that were not kept. */
  readonly #sweeps = new WeakMap<RunExecution, ItemSweeps>();
  /** What outlives the executions. */
  readonly stored: StoredRuns;
  /** Told of each item of a job that carries state, as it is executed for the first time. */
  onItem: ((job: JobRecord, ...of: Parameters<ItemListener>) => void) | undefined;
  readonly #held: HeldInputs | undefined;

  /**
   * @param budget Bytes of executions that are kept, besides those in use. The latest one is kept however large it is.
   * @param held Inputs that are held here, of jobs that do not publish them.
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

  /** What the size of the job's program decides. @returns undefined if it is not known. */
  shapeOf({ job }: Pick<JobRecord, "job">): ProgramShape | undefined {
    return this.#programs.shapeOf(job.programRoot);
  }

  /**
   * Has the job's program in memory, so that executing it waits for nothing.
   * @returns false if it is not known.
   * @throws ProgramUnavailableError
   */
  async prepare({ job }: Pick<JobRecord, "job">): Promise<boolean> {
    return (await this.#programs.load(job.programRoot)) !== undefined;
  }

  /** Whether the job can be executed: its program is known, and its input bytes are all at hand. */
  canExecute(job: JobRecord): boolean {
    return this.#kept.has(job.id) || (this.knows(job) && this.hasInputs(job));
  }

  /** Whether the job's input bytes are all on chain, or held here. */
  hasInputs(job: JobRecord): boolean {
    if (hasInputs(job)) return true;
    return this.#held?.has?.(job) ?? this.#held?.of(job) !== undefined;
  }

  /** The job's inputs from the chain, or as they are held here. @returns undefined if they are not at hand */
  inputsOf(job: JobRecord): RunInputs | undefined {
    return inputsOf(job) ?? this.#held?.of(job);
  }

  /** Whether the job's program is known, and its inputs may be at hand soon. */
  awaitsInputs(job: JobRecord): boolean {
    return this.knows(job) && !hasInputs(job) && this.#held?.awaits?.(job) === true;
  }

  /** Releases an execution and all that is kept of it, so that the job is executed anew when it is asked for. */
  drop({ id }: JobRecord): void {
    this.#kept.delete(id);
    this.stored.delete(id);
  }

  /**
   * The execution of a job. Executions that no move was made of are released first, so that audits do not displace what
   * a game needs.
   * @returns undefined if its program is not known or its input bytes are not (all) at hand.
   * @throws ExecutionInputError, ProgramUnavailableError
   */
  async of(job: JobRecord): Promise<RunExecution | undefined> {
    return this.#find(job)?.execution;
  }

  /**
   * Does something with an execution. If it needs tensors or items that were not kept, they are executed again, tensors
   * with their segments, and `action` begins anew: it must ask for them before it does anything that has an effect.
   * They are released when there is too little room.
   * @returns undefined if there is no execution: see {@link of}.
   */
  async use<T>(job: JobRecord, action: (execution: RunExecution) => T | Promise<T>): Promise<T | undefined> {
    const kept = this.#find(job);
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
            await this.#fill(job, execution.ofTrace(error.trace), error.steps);
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
   * One tensor of a job's execution, for others: if need be, an item is executed for that tensor alone, and those
   * before it from the nearest state that is kept. Nothing of it is kept, so that requests of others displace nothing
   * that a game needs.
   * @returns undefined if there is no such item or step, or no execution of it is there: see {@link of}. Nor is there
   *   one of an item that takes anything from the item before, unless the job was executed.
   */
  async tensor(job: JobRecord, item: number, step: number): Promise<Uint8Array | undefined> {
    const program = await this.#programs.load(job.job.programRoot);
    if (program === undefined || !(step in program.model.program.steps) || item >= job.job.items) return undefined;
    const stored = this.stored.of(job, program.model.program);
    const isExecuted = this.#kept.get(job.id)?.done !== undefined || (await stored.readRoots()) !== undefined;
    const run = isExecuted ? await this.#find(job, true)?.execution : undefined;
    const own = run?.missing([item]).length === 0 ? run.item(item) : undefined;
    if (own?.trace.missing([step]).length === 0) return own.trace.tensor(step);
    if (run === undefined && stored.isCarried && item > 0) return undefined;
    const inputs = own?.inputs ?? (run ? await inputsOfItem(run, item, this.#execute) : this.inputsOf(job)?.of(item));
    return inputs && (await this.#execute(program.model, inputs, (s) => s === step))[step];
  }

  /**
   * One output of an item with its path, for others. What is executed for it displaces nothing that a game needs: of a
   * run that was executed only the item, and those before it from the nearest state that is kept.
   * @returns undefined if there is no such item or output, or the claim does not hold the item's, or no execution: see
   *   {@link of}.
   */
  async output(job: JobRecord, item: number, output: number): Promise<OpenedOutput | undefined> {
    const run = item < job.job.items ? await this.#find(job, true)?.execution : undefined;
    if (run === undefined || !(output in run.program.model.program.outputs)) return undefined;
    const execution = await itemOf(run, item, this.#execute);
    return outputAt(run, item, execution.trace, output);
  }

  #find(job: JobRecord, isForOthers = false): Kept | undefined {
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
    const kept: Kept = { execution: this.#run(job, inputs), bytes: 0, users: 0, isPlayed: false, isForOthers };
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

  /** Measures an execution, and releases others if there is too little room. */
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

  /** Releases an execution; what is stored of it saves executing all of it again. */
  #evict(id: Hex): void {
    this.#kept.delete(id);
    this.stored.release(id);
  }

  /**
   * Executes a job again for tensors that were not kept. All who ask for some while it is executed wait for one
   * execution after that: many games over one claim, whose clocks all run, must not wait for one execution each.
   */
  #fill(job: JobRecord, { model, inputs, trace }: Execution, steps: readonly number[]): Promise<void> {
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
        trace.hold(await this.#executeFor(job)(model, inputs, (step) => wanted.has(step)));
      });
    this.#fills.set(trace, { last: filled, next: needed });
    return filled;
  }

  #sweepsOf(job: JobRecord, kept: Kept, run: RunExecution): ItemSweeps {
    return getOrAdd(this.#sweeps, run, () => {
      const hasRoom = (): boolean => this.bytes - kept.bytes + run.bytes <= this.#budget;
      return new ItemSweeps(run, this.#executeFor(job), hasRoom);
    });
  }

  /** Executes for a job: sooner than others if it is due sooner, at the time when it is asked for. */
  #executeFor(job: JobRecord): Execute {
    return withOrder(this.#execute, (order) => ({ ...order, due: dueOf(job) }));
  }

  /** The execution of a job, or what is kept of one without its items. */
  async #run(record: JobRecord, inputs: RunInputs): Promise<RunExecution> {
    const { programRoot } = record.job;
    const program = await this.#programs.load(programRoot);
    if (program === undefined) throw new ProgramUnavailableError(`program ${programRoot} is not known any more`);
    const stored = this.stored.of(record, program.model.program);
    const options = { stored, form: formOf(record.job) };
    const bytes = await stored.readRoots();
    if (bytes === undefined)
      return executeRun(program, inputs, this.#executeFor(record), options, (...of) => this.onItem?.(record, ...of));
    return new RunExecution(program, inputs, readRunRoots(program.model.program, inputs.length.items, bytes), options);
  }
}

const bytesOf = ({ done }: Kept): number => (done === undefined ? 0 : done.bytes + OBJECT_BYTES);

/** All steps of the segments that some steps lie in: what a dispute that enters one of them asks for. */
function segmentsOf({ checkpoints }: Program, steps: readonly number[]): Set<number> {
  const wanted = new Set(steps);
  for (const { first, step: last } of checkpoints) {
    if (!steps.some((step) => step >= first && step <= last)) continue;
    for (let step = first; step <= last; step++) wanted.add(step);
  }
  return wanted;
}
