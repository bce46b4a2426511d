import type { Hex } from "viem";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Program } from "../../program/types.ts";
import type { MerkleList } from "../../merkle/list.ts";
import { MissingTensorsError, Trace } from "../../trace/trace.ts";
import { inputBytesOf, type JobRecord } from "../history.ts";
import type { Execution, KnownProgram } from "./execution.ts";

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

/** Executions that are kept; each holds the tensors of its checkpoints. */
const KEPT = 4;

/**
 * One's own executions of jobs. A cache only: what is not in it is executed again from the inputs that the chain holds, so nothing
 * is lost by a restart.
 */
export class Executions {
  readonly #programs: ReadonlyMap<Hex, KnownProgram>;
  readonly #execute: Execute;
  readonly #users = new WeakMap<Trace, number>();
  readonly #kept = new Map<Hex, Promise<Execution>>();
  /** The latest execution for tensors that were not kept, and the steps that it is for while it has not begun. */
  readonly #fills = new WeakMap<Trace, { last: Promise<void>; next: Set<number> | undefined }>();

  constructor(programs: readonly KnownProgram[], execute: Execute) {
    this.#programs = new Map(programs.map((program) => [program.model.programRoot, program]));
    this.#execute = execute;
  }

  /** Whether the job's program is one that was compiled here. */
  knows(job: JobRecord): boolean {
    return this.#programs.has(job.job.programRoot);
  }

  /** Lets an execution go, so that the job is executed anew when it is asked for. */
  drop({ id }: JobRecord): void {
    this.#kept.delete(id);
  }

  /**
   * The execution of a job.
   * @returns undefined if its program is not known or its input bytes are not (all) on chain.
   * @throws ExecutionInputError
   */
  async of(job: JobRecord): Promise<Execution | undefined> {
    const kept = this.#kept.get(job.id);
    if (kept !== undefined) {
      // The one that was asked for longest ago goes first, so that audits do not displace what a game needs.
      this.#kept.delete(job.id);
      this.#kept.set(job.id, kept);
      return kept;
    }
    const program = this.#programs.get(job.job.programRoot);
    const inputs = program === undefined ? undefined : inputBytesOf(job);
    if (program === undefined || inputs === undefined) return undefined;
    const execution = this.#run(program, inputs);
    this.#kept.set(job.id, execution);
    execution.catch(() => {
      if (this.#kept.get(job.id) === execution) this.#kept.delete(job.id);
    });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return execution;
  }

  /**
   * Does something with an execution. Where it misses tensors that were not kept, the job is executed again for those and their segments,
   * and `action` begins anew: it must miss them before it does anything that counts. They are let go when nobody uses the execution.
   * @returns undefined if there is no execution: see {@link of}.
   */
  async use<T>(job: JobRecord, action: (execution: Execution) => T | Promise<T>): Promise<T | undefined> {
    const execution = await this.of(job);
    if (execution === undefined) return undefined;
    const { trace } = execution;
    this.#users.set(trace, (this.#users.get(trace) ?? 0) + 1);
    try {
      for (;;) {
        try {
          return await action(execution);
        } catch (error) {
          if (!(error instanceof MissingTensorsError)) throw error;
          await this.#fill(execution, error.steps);
          trace.require(error.steps);
        }
      }
    } finally {
      const users = this.#users.get(trace)! - 1;
      this.#users.set(trace, users);
      if (users === 0) trace.release();
    }
  }

  /**
   * Executes a job again for tensors that were not kept. All who miss some while it is executed wait for one execution after that: many games over one claim,
   * whose clocks all run, must not wait for one each.
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
        const wanted = segmentsOf(model.program, missing);
        trace.hold(await this.#execute(model, inputs, (step) => wanted.has(step)));
      });
    this.#fills.set(trace, { last: filled, next: needed });
    return filled;
  }

  async #run(program: KnownProgram, inputs: readonly Uint8Array[]): Promise<Execution> {
    const checkpoints = new Set(program.model.program.checkpoints.map(({ step }) => step));
    const trees = new Map<number, MerkleList>();
    const tensors = await this.#execute(program.model, inputs, (step) => checkpoints.has(step), trees);
    return { ...program, inputs, trace: new Trace(program.model.program, tensors, trees) };
  }
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
