import type { Worker } from "node:worker_threads";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import { blocksOf } from "../blocks/blocksOf.ts";
import type { BlockInputs, BlockOptions, BlockResult } from "../blocks/runBlock.ts";
import type { ExecutorOptions, RunOptions } from "../createExecutor.ts";
import { EngineFaultError, ExecutionThreadError } from "../errors.ts";
import { checkInputs } from "../sources.ts";
import { ended, startThread, terminate } from "../threads/engineThread.ts";
import { HashJob, hashLayout, type HashLayout } from "../threads/hashJob.ts";
import type { FromThread, SentBlock, ThreadModel, ToThread } from "./messages.ts";

/** The code of the threads: beside this file, built if this file is. Node strips types without a loader. */
const THREAD = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js", import.meta.url);
/** The number of items queued on a thread at a time. A thread with a queue continues while the event loop is busy. */
const QUEUED = 2;

/** The options of an item's execution: see {@link RunOptions}. */
type ItemOptions = Pick<RunOptions, "keep" | "trees">;
/** What a thread is asked for: an item, or a block of items. */
type Asked = {
  /** Makes the message, with copies of all inputs: an input may view a larger buffer, which would be sent whole. */
  message: () => ToThread;
  resolve: (message: FromThread) => void;
  reject: (error: Error) => void;
};

/**
 * Threads for one program, each with other items, all in parallel. Each thread has its own executor. The threads use
 * all processors even if items are too small to split step by step.
 */
export class ItemThreads {
  readonly #model: CompiledModel;
  readonly #layout: HashLayout;
  readonly #workers: readonly Worker[];
  /** The current and queued items of each started thread. */
  readonly #queues = new Map<Worker, Asked[]>();
  readonly #waiting: Asked[] = [];
  /** By guessed checkpoints, the threads' blocks. */
  readonly #blocks = new Map<string, ExecutorOptions["blocks"]>();
  #failure: EngineFaultError | ExecutionThreadError | undefined;
  #started: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #isEnding = false;

  private constructor(model: CompiledModel, threads: number) {
    this.#model = model;
    this.#layout = hashLayout(model.program);
    const { program, programRoot, constants, inputs, outputs, origins } = model;
    const data: ThreadModel = { program, programRoot, constants, inputs, outputs, origins };
    this.#workers = Array.from({ length: threads }, () => this.#startWorker(data));
  }

  /**
   * Starts threads for a program.
   * @throws EngineFaultError; ExecutionThreadError if one cannot be started, or has no memory for the program
   */
  static async start(model: CompiledModel, threads: number): Promise<ItemThreads> {
    const started = new ItemThreads(model, threads);
    try {
      await new Promise<void>((resolve, reject) => (started.#started = { resolve, reject }));
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  get programRoot(): string {
    return this.#model.programRoot;
  }

  /** Whether nothing is executed, and nothing waits. */
  get isIdle(): boolean {
    return [...this.#queues.values()].every((queue) => queue.length === 0) && this.#waiting.length === 0;
  }

  /** The error that ended the threads; undefined while they work. */
  get failure(): EngineFaultError | ExecutionThreadError | undefined {
    return this.#failure;
  }

  /**
   * Executes an item on the thread that has least to do.
   * @throws ExecutionInputError if the inputs do not fit the program; EngineFaultError, ExecutionThreadError
   */
  async run(inputs: readonly Uint8Array[], { keep, trees }: ItemOptions = {}): Promise<Uint8Array[]> {
    checkInputs(this.#model, inputs);
    const steps = this.#model.program.steps.map((_, step) => step);
    const { tensors } = (await this.#ask(() => ({
      ...{ kind: "item", inputs: inputs.map(copier()), isHashed: trees !== undefined },
      ...(keep && { kept: steps.filter(keep) }),
    }))) as FromThread & { tensors: Uint8Array[] };
    if (trees !== undefined) this.#readTrees(tensors, trees);
    return tensors;
  }

  /**
   * Executes a block on the thread that has least to do. Blocks of a program always have the same guessed checkpoints.
   * @param guessed The checkpoints whose carried tensors each item has.
   * @param options With `trees`, the items are hashed; nothing is put over the trees.
   * @returns no item if blocks are not faster

   * @throws as `run`
   */
  async runBlock(
    items: BlockInputs,
    guessed: readonly number[],
    { trees, isUnsure = false }: BlockOptions,
  ): Promise<BlockResult> {
    for (const inputs of items) checkInputs(this.#model, inputs);
    const { length } = this.#workers;
    const blocks = getOrAdd(this.#blocks, guessed.join(), () => blocksOf(this.#model.program, guessed, length));
    if (blocks === undefined) return { items: [], carried: new Map(), isWrong: false };
    const { block } = (await this.#ask(() => {
      const copy = copier();
      const own = items.map((inputs) => inputs.map(copy));
      return { kind: "block", items: own, blocks, isHashed: trees !== undefined, isUnsure };
    })) as FromThread & { block: SentBlock };
    const results = block.items.map(({ roots, tensors }) => ({ list: roots && new MerkleList(roots), tensors }));
    return { ...block, items: results };
  }

  #ask(message: () => ToThread): Promise<FromThread> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#waiting.push({ message, resolve, reject });
      this.#deal();
    });
  }

  /** Ends the threads, once they have executed what they have begun; what waits fails. Resolves when all have ended. */
  async close(): Promise<void> {
    this.#isEnding = true;
    this.#failure ??= threadError("ended");
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
    for (const worker of this.#workers) worker.postMessage({ kind: "end" } satisfies ToThread);
    await Promise.all(this.#workers.map(ended));
    this.#reject(this.#failure);
  }

  /** Fails all that is not done. */
  #reject(failure: Error): void {
    const unfinished = [...[...this.#queues.values()].flat(), ...this.#waiting.splice(0)];
    for (const queue of this.#queues.values()) queue.length = 0;
    for (const { reject } of unfinished) reject(failure);
  }

  #deal(): void {
    while (this.#waiting.length > 0) {
      const [worker, queue] = [...this.#queues].reduce((a, b) => (b[1].length < a[1].length ? b : a));
      if (queue.length === QUEUED) return;
      const asked = this.#waiting.shift()!;
      const message = asked.message();
      const inputs = message.kind === "item" ? message.inputs : message.kind === "block" ? message.items.flat() : [];
      queue.push(asked);
      worker.ref();
      worker.postMessage(message, [...new Set(inputs.map(({ buffer }) => buffer as ArrayBuffer))]);
    }
  }

  #take(worker: Worker, message: FromThread): void {
    if ("fault" in message) return this.#fail(new EngineFaultError(message.fault));
    if ("reason" in message) return this.#fail(threadError(`failed: ${message.reason}`));
    if ("ready" in message) {
      this.#queues.set(worker, []);
      // Lets a process exit even if it does not close the threads.
      worker.unref();
      if (this.#queues.size === this.#workers.length) this.#started?.resolve();
      return;
    }
    const queue = this.#queues.get(worker)!;
    const asked = queue.shift();
    // After a failure, what other threads had sent before still comes.
    if (asked === undefined) return;
    if (queue.length === 0) worker.unref();
    asked.resolve(message);
    this.#deal();
  }

  /** Reads the trees of the checkpoints' tensors. Tensors and tree nodes lie in one buffer. */
  #readTrees(tensors: readonly Uint8Array[], trees: Map<number, MerkleList>): void {
    const { checkpoints } = this.#model.program;
    const job = new HashJob(this.#layout, tensors[checkpoints[0]!.step]!.buffer);
    job.trees().forEach((tree, j) => trees.set(checkpoints[j]!.step, tree));
  }

  #fail(failure: EngineFaultError | ExecutionThreadError): void {
    if (this.#isEnding || this.#failure !== undefined) return;
    this.#failure = failure;
    for (const worker of this.#workers) void terminate(worker);
    this.#started?.reject(failure);
    this.#reject(failure);
  }

  #startWorker(data: ThreadModel): Worker {
    const worker = startThread(THREAD, data);
    worker.on("message", (message: FromThread) => this.#take(worker, message));
    worker.on("error", (error) => this.#fail(threadError(`failed: ${error.message}`, error)));
    worker.on("exit", (code) => this.#fail(threadError(`ended with ${code}`)));
    return worker;
  }
}

/** Copies bytes, the same bytes once. */
function copier(): (bytes: Uint8Array) => Uint8Array {
  const copies = new Map<Uint8Array, Uint8Array>();
  return (bytes) => getOrAdd(copies, bytes, () => new Uint8Array(bytes));
}

const threadError = (what: string, cause?: Error): ExecutionThreadError =>
  new ExecutionThreadError(`a thread that executes items ${what}; run the job again`, { cause });
