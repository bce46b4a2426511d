import type { Hex } from "viem";
import type { CompiledModel } from "../program/compiled.ts";
import type { Program } from "../program/types.ts";
import type { MerkleList } from "../merkle/list.ts";
import { MissingTensorsError, Trace } from "../trace/trace.ts";
import { inputBytesOf, type JobRecord } from "../market/history.ts";
import { ProgramUnavailableError } from "./errors.ts";
import type { Execution, ProgramShape } from "./execution.ts";
import type { ProgramLibrary } from "./programLibrary.ts";

/**
 * Executes a program: one tensor for each step, canonical little-endian bytes.
 * @param keep Steps whose tensors are asked for; others may be left out, as holes. Without it, all.
 * @param trees May be given the trees of checkpoints' tensors, where those are hashed on the way.
 */
export type Execute = (
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  keep?: (step: number) => boolean,
  trees?: Map<number, MerkleList>,
) => Promise<Uint8Array[]>;

/** Bytes of executions that are kept by default: 512 MiB. */
export const KEPT_BYTES = 2 ** 29;
/** Roughly what an execution takes besides its tensors and trees. */
const OBJECT_BYTES = 2 ** 16;

type Kept = {
  execution: Promise<Execution>;
  /** The same, once it is there. */
  done?: Execution;
  /** Bytes of memory, as measured when it was used last. */
  bytes: number;
  /** How many use it now: meanwhile nothing of it is released. */
  users: number;
  /** Whether moves are made of it. */
  isPlayed: boolean;
};

/**
 * One's own executions of jobs. This is a cache only: what is not in it is executed again from the inputs on chain, so
 * a restart loses nothing. As long as it is large enough, all games on a claim take one execution, and one more for
 * each range of steps that some of them enter at the same time. An execution for each move of many games would take
 * longer than their clocks allow.
 */
export class Executions {
  readonly #programs: ProgramLibrary;
  readonly #execute: Execute;
  readonly #budget: number;
  /** Those asked for longest ago first. */
  readonly #kept = new Map<Hex, Kept>();
  /** The latest execution for tensors that were not kept, and the steps that it is for while it has not begun. */
  readonly #fills = new WeakMap<Trace, { last: Promise<void>; next: Set<number> | undefined }>();

  /**
   * @param budget Bytes of executions that are kept, besides those in use. The latest one is kept however large it is.
   */
  constructor(programs: ProgramLibrary, execute: Execute, budget = KEPT_BYTES) {
    this.#budget = budget;
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

  /** Whether the job can be executed: its program is known, and its input bytes are all on chain. */
  canExecute(job: JobRecord): boolean {
    return this.#kept.has(job.id) || (this.knows(job) && inputBytesOf(job) !== undefined);
  }

  /** Releases an execution, so that the job is executed anew when it is asked for. */
  drop({ id }: JobRecord): void {
    this.#kept.delete(id);
  }

  /**
   * The execution of a job. Executions that no move was made of are released first, so that audits do not displace what
   * a game needs.
   * @returns undefined if its program is not known or its input bytes are not (all) on chain.
   * @throws ExecutionInputError, ProgramUnavailableError
   */
  async of(job: JobRecord): Promise<Execution | undefined> {
    return this.#find(job)?.execution;
  }

  /**
   * Does something with an execution. If it needs tensors that were not kept, the job is executed again for those and
   * their segments, and `action` begins anew: it must ask for them before it does anything that has an effect. They are
   * released when there is too little room.
   * @returns undefined if there is no execution: see {@link of}.
   */
  async use<T>(job: JobRecord, action: (execution: Execution) => T | Promise<T>): Promise<T | undefined> {
    const kept = this.#find(job);
    if (kept === undefined) return undefined;
    kept.users++;
    kept.isPlayed = true;
    try {
      const execution = await kept.execution;
      for (;;) {
        try {
          return await action(execution);
        } catch (error) {
          if (!(error instanceof MissingTensorsError)) throw error;
          await this.#fill(execution, error.steps);
          execution.trace.require(error.steps);
        }
      }
    } finally {
      kept.users--;
      this.#measure(kept);
    }
  }

  /**
   * One tensor of a job's execution, for others: if need be, the job is executed for that tensor alone, and nothing of
   * it is kept, so that requests of others displace nothing that a game needs.
   * @returns undefined if there is no such step or no execution: see {@link of}.
   */
  async tensor(job: JobRecord, step: number): Promise<Uint8Array | undefined> {
    const program = await this.#programs.load(job.job.programRoot);
    if (program === undefined || !(step in program.model.program.steps)) return undefined;
    const trace = this.#kept.get(job.id)?.done?.trace;
    if (trace?.missing([step]).length === 0) return trace.tensor(step);
    const inputs = inputBytesOf(job);
    return inputs && (await this.#execute(program.model, inputs, (s) => s === step))[step];
  }

  #find(job: JobRecord): Kept | undefined {
    const known = this.#kept.get(job.id);
    if (known !== undefined) {
      this.#kept.delete(job.id);
      this.#kept.set(job.id, known);
      return known;
    }
    const inputs = this.knows(job) ? inputBytesOf(job) : undefined;
    if (inputs === undefined) return undefined;
    const kept: Kept = { execution: this.#run(job, inputs), bytes: 0, users: 0, isPlayed: false };
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
    const idle = [...this.#kept].slice(0, -1).filter(([, { users, done }]) => users === 0 && done !== undefined);
    const played = idle.filter(([, { isPlayed }]) => isPlayed);
    const release = ([id, { bytes }]: [Hex, Kept]): void => {
      if (excess <= 0) return;
      this.#kept.delete(id);
      excess -= bytes;
    };
    idle.filter(([, { isPlayed }]) => !isPlayed).forEach(release);
    for (const [, one] of played) {
      if (excess <= 0) return;
      one.done!.trace.release();
      excess -= one.bytes - bytesOf(one);
      one.bytes = bytesOf(one);
    }
    played.forEach(release);
  }

  /**
   * Executes a job again for tensors that were not kept. All who ask for some while it is executed wait for one
   * execution after that: many games over one claim, whose clocks all run, must not wait for one execution each.
   */
  #fill({ model, inputs, trace }: Execution, steps: readonly number[]): Promise<void> {
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
        trace.hold(await this.#execute(model, inputs, (step) => wanted.has(step)));
      });
    this.#fills.set(trace, { last: filled, next: needed });
    return filled;
  }

  async #run({ job }: JobRecord, inputs: readonly Uint8Array[]): Promise<Execution> {
    const program = await this.#programs.load(job.programRoot);
    if (program === undefined) throw new ProgramUnavailableError(`program ${job.programRoot} is not known any more`);
    const checkpoints = new Set(program.model.program.checkpoints.map(({ step }) => step));
    const trees = new Map<number, MerkleList>();
    const tensors = await this.#execute(program.model, inputs, (step) => checkpoints.has(step), trees);
    return { ...program, inputs, trace: new Trace(program.model.program, tensors, trees) };
  }
}

function bytesOf({ done }: Kept): number {
  if (done === undefined) return 0;
  return done.inputs.reduce((sum, { length }) => sum + length, done.trace.bytes + OBJECT_BYTES);
}

/** All steps of the segments that some steps lie in: what a dispute that enters one of them asks for. */
function segmentsOf({ checkpoints }: Program, steps: readonly number[]): Set<number> {
  const wanted = new Set(steps);
  for (const { first, step: last } of checkpoints) {
    if (!steps.some((step) => step >= first && step <= last)) continue;
    for (let step = first; step <= last; step++) wanted.add(step);
  }
  return wanted;
}
