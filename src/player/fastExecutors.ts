import { createExecutor, type Executor, type ExecutorOptions, type RunOptions } from "../executor/createExecutor.ts";
import { onnxEngine } from "../executor/engine/onnxEngine.ts";
import { selfTest } from "../executor/engine/selfTest.ts";
import { getOrAdd } from "../getOrAdd.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { Execute } from "./executions.ts";

/** The fast executor, prepared once for each program. */
export class FastExecutors {
  readonly #options: ExecutorOptions;
  readonly #prepared = new Map<string, Promise<Executor>>();

  constructor(options: ExecutorOptions = {}) {
    this.#options = options;
  }

  /**
   * Tests whether this machine can execute at all.
   * @throws EngineUnfitError if it computes wrong, or what the engine throws if it does not start
   */
  async test(): Promise<void> {
    const engine = await onnxEngine();
    try {
      await selfTest(engine);
    } finally {
      await engine.close();
    }
  }

  /** Executes a program. @param options Callbacks of the run. */
  async run(model: CompiledModel, inputs: readonly Uint8Array[], options: RunOptions = {}): Promise<Uint8Array[]> {
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
