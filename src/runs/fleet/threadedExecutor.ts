import { maxThreads } from "../../executor/createExecutor.ts";
import { EngineFaultError } from "../../executor/errors.ts";
import { ItemThreads } from "../../executor/items/itemThreads.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Execute, ExecuteBlock } from "../execute.ts";

/** Programs whose threads are kept at a time. */
const MAX_PROGRAMS = 4;

/**
 * Executes on threads, one task per thread at a time. The event loop stays free, to let a queue see that this process
 * lives. Each program has threads of its own; the longest unused threads end first.
 */
export class ThreadedExecutor {
  readonly #threads: number;
  /** By program; the least recently used first. */
  readonly #programs = new Map<string, Promise<ItemThreads>>();
  #fault: EngineFaultError | undefined;

  constructor(threads = maxThreads()) {
    this.#threads = threads;
  }

  /** The fault found in the engine: after a fault, nothing is executed. */
  get fault(): EngineFaultError | undefined {
    return this.#fault;
  }

  readonly #block: ExecuteBlock = ({ model, items, guessed, ...options }) =>
    this.#on(model, (threads) => threads.runBlock(items, guessed, options));

  /** @throws EngineFaultError, ExecutionThreadError, ExecutionInputError */
  readonly execute: Execute = Object.assign(
    ((model, inputs, keep, trees) =>
      this.#on(model, (threads) => threads.run(inputs, { ...(keep && { keep }), ...(trees && { trees }) }))) as Execute,
    { block: this.#block },
  );

  async #on<T>(model: CompiledModel, action: (threads: ItemThreads) => Promise<T>): Promise<T> {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      return await action(await this.#threadsOf(model));
    } catch (error) {
      if (error instanceof EngineFaultError) this.#fault = error;
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const threads of this.#programs.values()) await close(threads);
    this.#programs.clear();
  }

  async #threadsOf(model: CompiledModel): Promise<ItemThreads> {
    const { programRoot } = model;
    const known = this.#programs.get(programRoot);
    const isFit = known !== undefined && (await known.then(({ failure }) => failure === undefined).catch(() => false));
    // Another task may have started them meanwhile.
    const latest = this.#programs.get(programRoot);
    const threads = isFit || latest !== known ? latest! : ItemThreads.start(model, this.#threads);
    this.#programs.delete(programRoot);
    this.#programs.set(programRoot, threads);
    for (const [root, old] of this.#programs) {
      if (this.#programs.size <= MAX_PROGRAMS) break;
      const idle = await old.then(({ isIdle }) => isIdle).catch(() => true);
      if (!idle || root === programRoot) continue;
      this.#programs.delete(root);
      void close(old);
    }
    return threads;
  }
}

const close = (threads: Promise<ItemThreads>): Promise<void> =>
  threads.then((started) => started.close()).catch(() => undefined);
