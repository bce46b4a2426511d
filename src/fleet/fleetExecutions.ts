import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RefuteError } from "../errors.ts";
import { checkInputs } from "../executor/sources.ts";
import type { MerkleList } from "../merkle/list.ts";
import { tensorRoot, tensorTree } from "../merkle/tensor.ts";
import { carriesState } from "../program/run.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { ExecutionQueue } from "../player/executionQueue.ts";
import type { Execute } from "../player/executeRun.ts";
import type { Meter } from "../player/figures.ts";
import type { Health } from "../player/health.ts";
import type { Logger } from "../player/log.ts";
import { bytesOf } from "../trace/runInputs.ts";
import type { BlobStore } from "./blobStore.ts";
import { QueueUnavailableError, StoreCorruptError, StoreError, StoreFullError, TaskFailedError } from "./errors.ts";
import { outcomeName, taskOf, tensorName, type Outcome, type Task, type TensorRef } from "./task.ts";
import type { TaskQueue } from "./taskQueue.ts";

export type FleetOptions = {
  tasks: TaskQueue;
  store: BlobStore;
  /** Executes in this process: what the fleet cannot do, and what decides where executors disagree. */
  here: Execute;
  /** Of all executions, the share that another executor repeats before anything is signed: 0 to 1. */
  againShare: number;
  health: Health;
  meter: Meter;
  log: Logger;
  /** How long another executor may take until the repetition is made here, milliseconds. */
  againMs?: number;
  /** How long others may take until this process executes itself, milliseconds: half of the time that is left. */
  patience?: { least: number; most: number };
};

/** Tensors by step, and their trees. */
type Result = { tensors: Uint8Array[]; trees: Map<number, MerkleList> };

/** The share of executions that are repeated, if nothing else is said. */
export const AGAIN_SHARE = 1;
const AGAIN_MS = 120_000;
const PATIENCE = { least: 15_000, most: 600_000 };
const COUNTED_MS = 5_000;
/** What others cannot do is done here; a task that ended executors would end this process too. */
const FALLBACKS = [QueueUnavailableError, TaskFailedError, StoreError, StoreFullError, StoreCorruptError];
/** Tries of a task whose tensors are not in the store, or are others. */
const TRIES = 3;
/** A share is drawn in millionths. */
const MILLION = 1_000_000;
/** Roots of tensors that are known to be in the store: what was put there lately is not put there again. */
const MAX_KNOWN = 10_000;
/** So long after it was put there, it may be deleted already. */
const KNOWN_MS = 3_600_000;

/**
 * Has a fleet execute. Executors and the store are the operator's own, and yet not believed: each tensor is compared
 * with its root, and a random share of executions is repeated by another executor; where the two differ, this process
 * executes, and whoever was wrong gets no more tasks. Runs that carry state are executed here: each of their items
 * needs the state of the one before, and moving it takes longer than most items.
 */
export class FleetExecutions implements ExecutionQueue {
  readonly #options: FleetOptions;
  readonly #wrong = new Set<string>();
  /** When inputs were put into the store, by root, the oldest first. */
  readonly #known = new Map<string, number>();
  #counted = { count: 0, at: 0 };

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  readonly execute: Execute = async (model, inputs, keep, trees, order) => {
    checkInputs(model, inputs);
    const { here, meter, health } = this.#options;
    if (carriesState(model.program.inputs)) return here(model, inputs, keep, trees, order);
    const due = order?.due ?? Infinity;
    try {
      const { program } = model;
      const checkpoints = new Set(trees === undefined ? [] : program.checkpoints.map(({ step }) => step));
      const steps = program.steps.flatMap((_, s) => (keep === undefined || keep(s) || checkpoints.has(s) ? [s] : []));
      const result = await this.#inTime(this.#byOthers(model, inputs, steps, due), due);
      for (const [step, tree] of result.trees) if (checkpoints.has(step)) trees?.set(step, tree);
      if (this.#wrong.size === 0) health.set("fleet", undefined);
      return result.tensors;
    } catch (error) {
      // Inputs that executors do not find are put there again the next time.
      this.#known.clear();
      if (!FALLBACKS.some((one) => error instanceof one)) throw error;
      // Clocks run: what others do not do is done here.
      const { message, code } = error as RefuteError;
      this.#say(message, code);
      meter.fleet("here");
      return here(model, inputs, keep, trees, order);
    }
  };

  async close(): Promise<void> {
    await this.#options.tasks.close();
  }

  /** Waits for others for half of the time that is left. @throws TaskFailedError after that */
  async #inTime(result: Promise<Result>, due: number): Promise<Result> {
    const { least, most } = this.#options.patience ?? PATIENCE;
    const half = (due * 1_000 - Date.now()) / 2;
    const patience = Math.min(most, Math.max(least, half));
    const ended = new AbortController();
    const late = sleep(patience, undefined, { signal: ended.signal }).then(() => {
      throw new TaskFailedError(`no executor did a task within ${Math.round(patience / 1_000)} s`);
    });
    for (const one of [result, late]) one.catch(() => undefined);
    return Promise.race([result, late]).finally(() => ended.abort());
  }

  async #byOthers(
    model: CompiledModel,
    inputs: readonly Uint8Array[],
    steps: readonly number[],
    due: number,
  ): Promise<Result> {
    if ((await this.#executors()) === 0) throw new QueueUnavailableError("no executor is connected to the queue");
    const asked = { programRoot: model.programRoot, inputs: await this.#putAll(inputs), steps };
    for (let tries = 1; ; tries++) {
      // The queue remembers what was done.
      const task = taskOf(asked, due, [...this.#wrong], tries === 1 ? "" : randomUUID());
      const outcome = await this.#submit(task);
      try {
        return (await this.#corrected(task, outcome, model, inputs)) ?? (await this.#fetch(model, task, outcome));
      } catch (error) {
        if (!(error instanceof StoreCorruptError)) throw error;
        this.#options.meter.fleet("failed");
        const fields = { executor: outcome.executor, reason: error.message };
        this.#options.log.warn(fields, "an execution is asked for again");
        if (tries === TRIES) throw error;
        await this.#forget(task, outcome);
      }
    }
  }

  /** How many executors are connected, as of the last seconds. */
  async #executors(): Promise<number> {
    const { at, count } = this.#counted;
    if (count > 0 && Date.now() - at < COUNTED_MS) return count;
    this.#counted = { count: await this.#options.tasks.executors(), at: Date.now() };
    return this.#counted.count;
  }

  async #submit(task: Task): Promise<Outcome> {
    const outcome = await this.#options.tasks.submit(task);
    if (outcome.tensors.length !== task.steps.length)
      throw new TaskFailedError(`${outcome.executor} gave ${outcome.tensors.length} of ${task.steps.length} tensors`);
    this.#options.meter.fleet("done");
    return outcome;
  }

  /**
   * Has an outcome confirmed by another executor, if that is drawn.
   * @returns This process's own result where they disagree, or nobody else is there; undefined if it is confirmed
   */
  async #corrected(
    task: Task,
    first: Outcome,
    model: CompiledModel,
    inputs: readonly Uint8Array[],
  ): Promise<Result | undefined> {
    const isSuspect = this.#wrong.has(first.executor);
    if (!isSuspect && randomInt(MILLION) >= this.#options.againShare * MILLION) return undefined;
    const again = isSuspect ? undefined : this.#againOf(task, first);
    const second = again && (await this.#again(again, first));
    this.#options.meter.fleet("again");
    if (second !== undefined && sameRoots(first, second.tensors)) return undefined;
    const own = await this.#executeHere(task, model, inputs);
    const roots = task.steps.map((step) => ({ root: own.trees.get(step)!.root, bytes: own.tensors[step]!.length }));
    for (const [of, outcome] of [[task, first] as const, [again, second] as const]) {
      if (of === undefined || outcome === undefined || sameRoots(outcome, roots)) continue;
      this.#distrust(outcome.executor, of);
      await this.#replace(of, own, roots).catch((error: unknown) => {
        this.#options.log.warn({ task: of.id, reason: (error as Error).message }, "a wrong result stays in the store");
      });
    }
    return own;
  }

  /** The task that has an executor's outcome repeated by another one. */
  #againOf({ programRoot, inputs, steps, due, not }: Task, { executor }: Outcome): Task {
    const others = [...new Set([...not, executor])];
    return taskOf({ programRoot, inputs, steps }, due ?? Infinity, others, `not by ${executor}`);
  }

  /** @returns undefined if there is no other executor, or it takes too long */
  async #again(again: Task, { executor }: Outcome): Promise<Outcome | undefined> {
    if ((await this.#executors()) < 2) return undefined;
    const outcome = this.#submit(again).catch(() => undefined);
    const ended = new AbortController();
    const { againMs = AGAIN_MS } = this.#options;
    const late = sleep(againMs, undefined, { signal: ended.signal }).catch(() => undefined);
    const second = await Promise.race([outcome, late]).finally(() => ended.abort());
    return second?.executor === executor ? undefined : second;
  }

  async #executeHere({ steps, due }: Task, model: CompiledModel, inputs: readonly Uint8Array[]): Promise<Result> {
    const wanted = new Set(steps);
    this.#options.meter.fleet("here");
    const order = { due: due ?? Infinity };
    const tensors = await this.#options.here(model, inputs, (step) => wanted.has(step), undefined, order);
    return { tensors, trees: new Map(steps.map((step) => [step, tensorTree(tensors[step]!)])) };
  }

  /** Puts an own result in the place of a wrong one, which others might take for done. */
  async #replace(task: Task, { tensors }: Result, refs: readonly TensorRef[]): Promise<void> {
    await this.#putAll(task.steps.map((step) => tensors[step]!));
    const own: Outcome = { executor: "a role", tensors: refs };
    await this.#options.store.put(outcomeName(task.id), new TextEncoder().encode(JSON.stringify(own)));
    await this.#options.tasks.forget(task.id);
  }

  #distrust(executor: string, { programRoot, id }: Task): void {
    this.#wrong.add(executor);
    this.#options.meter.fleet("differs");
    this.#options.log.error({ executor, program: programRoot, task: id }, "an executor computed wrongly");
    const who = [...this.#wrong].join(", ");
    this.#say(`${who} computed wrongly and gets no more tasks until this process is started again`, "EXECUTOR_WRONG");
  }

  #say(reason: string, code: string): void {
    this.#options.health.set("fleet", { reason, code });
  }

  /** The tensors of an outcome, by step, each compared with its root. @throws StoreCorruptError */
  async #fetch({ program }: CompiledModel, { steps }: Task, { executor, tensors: refs }: Outcome): Promise<Result> {
    const { store } = this.#options;
    const result = { tensors: [] as Uint8Array[], trees: new Map<number, MerkleList>() };
    await Promise.all(
      steps.map(async (step, k) => {
        const ref = refs[k]!;
        const length = bytesOf(program.steps[step]!);
        const bytes = await store.get(tensorName(ref), length);
        const what = `the tensor of step ${step} from ${executor} in ${store.name}`;
        if (bytes === undefined) throw new StoreCorruptError(`${what} is not there`);
        if (bytes.length !== length) throw new StoreCorruptError(`${what} has another length`);
        const tree = tensorTree(bytes);
        if (tree.root !== ref.root) throw new StoreCorruptError(`${what} has another root`);
        result.trees.set(step, tree);
        result.tensors[step] = bytes;
      }),
    );
    return result;
  }

  /** Deletes what a task gave, so that executors do not take it for done. */
  async #forget({ id }: Task, { tensors }: Outcome): Promise<void> {
    const { store } = this.#options;
    for (const name of [outcomeName(id), ...tensors.map(tensorName)]) await store.delete(name).catch(() => undefined);
    this.#known.clear();
  }

  #putAll(tensors: readonly Uint8Array[]): Promise<TensorRef[]> {
    return Promise.all(tensors.map((bytes) => this.#put(bytes)));
  }

  async #put(bytes: Uint8Array): Promise<TensorRef> {
    const ref = { root: tensorRoot(bytes), bytes: bytes.length };
    if (Date.now() - (this.#known.get(ref.root) ?? 0) < KNOWN_MS) return ref;
    await this.#options.store.put(tensorName(ref), bytes);
    this.#known.delete(ref.root);
    this.#known.set(ref.root, Date.now());
    for (const root of this.#known.keys()) if (this.#known.size > MAX_KNOWN) this.#known.delete(root);
    return ref;
  }
}

const sameRoots = ({ tensors }: Outcome, others: readonly TensorRef[]): boolean =>
  tensors.length === others.length && tensors.every(({ root }, k) => root === others[k]!.root);
