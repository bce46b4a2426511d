import type { Hex } from "viem";
import type { CompiledModel } from "../../program/compiled.ts";
import { Trace } from "../../trace/trace.ts";
import { inputBytesOf, type JobRecord } from "../history.ts";
import type { Execution, KnownProgram } from "./execution.ts";

/** Executes a program: one tensor for each step, canonical little-endian bytes. */
export type Execute = (model: CompiledModel, inputs: readonly Uint8Array[]) => Promise<Uint8Array[]>;

/** Executions that are kept; each holds every tensor of its job. */
const KEPT = 4;

/**
 * One's own executions of jobs. A cache only: what is not in it is executed again from the inputs that the chain holds, so nothing
 * is lost by a restart.
 */
export class Executions {
  readonly #programs: ReadonlyMap<Hex, KnownProgram>;
  readonly #execute: Execute;
  readonly #kept = new Map<Hex, Promise<Execution>>();

  constructor(programs: readonly KnownProgram[], execute: Execute) {
    this.#programs = new Map(programs.map((program) => [program.model.programRoot, program]));
    this.#execute = execute;
  }

  /** Whether the job's program is one that was compiled here. */
  knows(job: JobRecord): boolean {
    return this.#programs.has(job.job.programRoot);
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

  async #run(program: KnownProgram, inputs: readonly Uint8Array[]): Promise<Execution> {
    const tensors = await this.#execute(program.model, inputs);
    return { ...program, inputs, trace: new Trace(program.model.program, tensors) };
  }
}
