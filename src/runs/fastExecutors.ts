import {
  createExecutor,
  maxThreads,
  START_MS,
  type Executor,
  type ExecutorOptions,
  type RunOptions,
} from "../executor/createExecutor.ts";
import { ItemThreads } from "../executor/items/itemThreads.ts";
import { getOrAdd } from "../base/getOrAdd.ts";
import { EngineFaultError, ExecutionThreadError } from "../executor/errors.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { apartLengths, blocksOf } from "../executor/blocks/blocksOf.ts";
import { createWithBlocks } from "../executor/blocks/createWithBlocks.ts";
import type { Execute, ExecuteApart, ExecuteBlock } from "./execute.ts";

/**
 * Maximum total memory, in bytes, for threads executing items in parallel. Programs that need more are large: threads
 * share their steps instead.
 */
const ITEM_BYTES = 2 ** 30;

/** The fast executor, prepared once for each program. */
export class FastExecutors {
  readonly #options: ExecutorOptions;
  readonly #prepared = new Map<string, Promise<Executor>>();
  /** The fault found in the engine. After a fault, nothing is executed. */
  #fault: EngineFaultError | undefined;
  /** The threads for items, for the last program that had many items. */
  #threads: ItemThreads | undefined;
  #starting: Promise<void> | undefined;
  /** Programs whose threads failed. */
  readonly #unfit = new Set<string>();
  /** The blocks that were asked for, by program. */
  readonly #blocks = new Map<string, ExecutorOptions["blocks"]>();
  /** Programs with requests for items of different runs together. */
  readonly #apart = new Set<string>();
  /** By program: total milliseconds spent on items that can be executed in parallel. */
  readonly #spent = new Map<string, number>();

  constructor(options: ExecutorOptions = {}) {
    this.#options = options;
  }

  /**
   * Executes a program.
   * @param options Callbacks of the run.
   * @param isOneOfMany Whether other items of the same run are executed in parallel: see {@link ExecutionOrder}.
   * @throws EngineFaultError if a product in this or an earlier execution was wrong; the errors of `createExecutor`
   *   and the executor's `run`.
   */
  async run(
    model: CompiledModel,
    inputs: readonly Uint8Array[],
    options: RunOptions = {},
    isOneOfMany = false,
  ): Promise<Uint8Array[]> {
    return this.#untilFault(() =>
      isOneOfMany ? this.#runOneOfMany(model, inputs, options) : this.#run(model, inputs, options),
    );
  }

  async #run(model: CompiledModel, inputs: readonly Uint8Array[], options: RunOptions): Promise<Uint8Array[]> {
    return (await (await this.#executorOf(model)).run(inputs, options)).tensors;
  }

  /** Executes a block of items. @throws as `run` */
  readonly #block: ExecuteBlock = ({ model, items, guessed, ...options }) =>
    this.#untilFault(async () => (await this.#executorOf(model, guessed)).runBlock(items, options));

  /** Executes items of different runs together. @throws as `run` */
  readonly #together: ExecuteApart = (model, items) =>
    this.#untilFault(async () => (await this.#executorOf(model, "apart")).runApart(items));

  async #untilFault<T>(action: () => Promise<T>): Promise<T> {
    try {
      if (this.#fault === undefined) {
        const result = await action();
        // Another execution may have found a fault meanwhile.
        if (this.#fault === undefined) return result;
      }
    } catch (error) {
      if (!(error instanceof EngineFaultError)) throw error;
      this.#fault ??= error;
    }
    throw this.#fault;
  }

  /**
   * @param asked The guessed checkpoints of a block, or "apart": the executor also executes such blocks, if they are
   *   worth it (see {@link blocksOf}).
   */
  #executorOf(model: CompiledModel, asked?: readonly number[] | "apart"): Promise<Executor> {
    const { programRoot } = model;
    if (asked !== undefined && this.#isNew(model, asked)) {
      const { lengths = [], guessed = [] } = this.#blocks.get(programRoot) ?? {};
      const apart = this.#apart.has(programRoot) ? apartLengths(model.program) : [];
      if (asked === "apart" ? apart.length > 0 : lengths.length > 0) {
        const blocks = { lengths, guessed, ...(apart.length > 0 && { apart }) };
        this.#prepared.set(programRoot, this.#createWithBlocks(model, blocks, this.#prepared.get(programRoot)));
      }
    }
    const executor = getOrAdd(this.#prepared, programRoot, () => createExecutor(model, this.#options));
    // After a failed preparation, an executor is prepared anew the next time: memory may be free again.
    executor.catch(() => this.#prepared.get(programRoot) === executor && this.#prepared.delete(programRoot));
    return executor;
  }

  /** Takes note of what is asked for. @returns false if the same was asked for before */
  #isNew({ program, programRoot }: CompiledModel, asked: readonly number[] | "apart"): boolean {
    if (asked === "apart") return !this.#apart.has(programRoot) && this.#apart.add(programRoot) === this.#apart;
    if (this.#blocks.has(programRoot)) return false;
    this.#blocks.set(programRoot, blocksOf(program, asked));
    return true;
  }

  /** Replaces an executor by an executor for items and blocks, if there is memory for blocks. */
  async #createWithBlocks(
    model: CompiledModel,
    blocks: ExecutorOptions["blocks"],
    before: Promise<Executor> | undefined,
  ): Promise<Executor> {
    // Its constants lie in its memory.
    await before?.then((executor) => executor.close());
    return createWithBlocks(model, this.#options, blocks);
  }

  /** Executes an item on a thread for items, once the program's items took as long as threads take to start. */
  async #runOneOfMany(model: CompiledModel, inputs: readonly Uint8Array[], options: RunOptions): Promise<Uint8Array[]> {
    const { programRoot } = model;
    const threads = this.#threadsOf(model, await this.#executorOf(model));
    if (threads !== undefined) {
      try {
        return await threads.run(inputs, options);
      } catch (error) {
        if (!(error instanceof ExecutionThreadError)) throw error;
        // The executor may have memory where threads had none. They are not tried again for this program.
        this.#unfit.add(programRoot);
        options.trees?.clear();
      }
    }
    const start = performance.now();
    // An executor of blocks may have replaced the executor meanwhile.
    const tensors = await this.#run(model, inputs, options);
    this.#spent.set(programRoot, (this.#spent.get(programRoot) ?? 0) + performance.now() - start);
    return tensors;
  }

  /** The threads for a program's items, if they have started. Starts them if they are worth it. */
  #threadsOf(model: CompiledModel, { bytes }: Executor): ItemThreads | undefined {
    const threads = this.#threads;
    if (threads?.programRoot === model.programRoot && threads.failure === undefined) return threads;
    const { engine, threads: wanted = 0 } = this.#options;
    const count = Math.min(wanted === 0 ? maxThreads() : wanted, Math.floor(ITEM_BYTES / bytes));
    const isFit = engine === undefined && count > 1 && !this.#unfit.has(model.programRoot);
    const isWorthIt = isFit && (this.#spent.get(model.programRoot) ?? 0) > START_MS;
    if (!isWorthIt || this.#starting !== undefined || threads?.isIdle === false) return undefined;
    this.#threads = undefined;
    this.#starting = Promise.resolve(threads?.close())
      .then(() => ItemThreads.start(model, count))
      .then(
        (started) => void (this.#threads = started),
        (error: unknown) => {
          if (error instanceof EngineFaultError) this.#fault ??= error;
          this.#unfit.add(model.programRoot);
        },
      )
      .finally(() => (this.#starting = undefined));
    return undefined;
  }

  readonly execute: Execute = Object.assign(
    ((model, inputs, keep, trees, order) =>
      this.run(model, inputs, { ...(keep && { keep }), ...(trees && { trees }) }, order?.isOneOfMany)) as Execute,
    { block: this.#block, apart: this.#together },
  );

  async close(): Promise<void> {
    await this.#starting;
    await this.#threads?.close();
    this.#threads = undefined;
    for (const executor of this.#prepared.values()) await (await executor).close();
    this.#prepared.clear();
  }
}
