import { createExecutor, type Executor, type ExecutorOptions, type RunOptions } from "../executor/createExecutor.ts";
import { getOrAdd } from "../getOrAdd.ts";
import { EngineFaultError } from "../executor/errors.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { Execute } from "./executeRun.ts";

/** The fast executor, prepared once for each program. */
export class FastExecutors {
  readonly #options: ExecutorOptions;
  readonly #prepared = new Map<string, Promise<Executor>>();
  /** What was found wrong with the engine. Nothing is executed any more. */
  #fault: EngineFaultError | undefined;

  constructor(options: ExecutorOptions = {}) {
    this.#options = options;
  }

  /**
   * Executes a program.
   * @param options Callbacks of the run.
   * @throws EngineFaultError if a product of this or of an earlier execution was wrong; the errors of `createExecutor`
   * and of its `run`.
   */
  async run(model: CompiledModel, inputs: readonly Uint8Array[], options: RunOptions = {}): Promise<Uint8Array[]> {
    try {
      if (this.#fault === undefined) {
        const tensors = await this.#run(model, inputs, options);
        // Another execution may have found a fault meanwhile.
        if (this.#fault === undefined) return tensors;
      }
    } catch (error) {
      if (!(error instanceof EngineFaultError)) throw error;
      this.#fault ??= error;
    }
    throw this.#fault;
  }

  async #run(model: CompiledModel, inputs: readonly Uint8Array[], options: RunOptions): Promise<Uint8Array[]> {
    const { programRoot } = model;
    const executor = getOrAdd(this.#prepared, programRoot, () => createExecutor(model, this.#options));
    // One that could not be prepared is prepared anew the next time: memory may be free again.
    executor.catch(() => this.#prepared.get(programRoot) === executor && this.#prepared.delete(programRoot));
    return (await (await executor).run(inputs, options)).tensors;
  }

  readonly execute: Execute = (model, inputs, keep, trees) =>
    this.run(model, inputs, { ...(keep && { keep }), ...(trees && { trees }) });

  async close(): Promise<void> {
    for (const executor of this.#prepared.values()) await (await executor).close();
    this.#prepared.clear();
  }
}
