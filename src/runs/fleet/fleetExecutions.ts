import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RefuteError } from "../../base/errors.ts";
import { checkInputs } from "../../executor/sources.ts";
import type { MerkleList } from "../../program/merkle/list.ts";
import { tensorRoot, tensorTree } from "../../program/merkle/tensor.ts";
import type { ExecutionQueue } from "../executionQueue.ts";
import { executeStretch, withOrder } from "../executeRun.ts";
import type { Meter } from "../figures.ts";
import type { Health } from "../../base/health.ts";
import type { Logger } from "../../base/log.ts";
import { rootBytes } from "../../dispute/run/runRoots.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { BlobStore } from "./blobStore.ts";
import { QueueUnavailableError, StoreCorruptError, StoreError, StoreFullError, TaskFailedError } from "./errors.ts";
import { outcomeName, taskOf, tensorName, tensorsOf, type Asked, type TaskOutcome } from "./task.ts";
import type { Task, TensorRef } from "./task.ts";
import { isSent } from "./taskHandler.ts";
import type { TaskQueue } from "./taskQueue.ts";
import type { Execute, ExecutionOrder, ExecuteStretch } from "../execute.ts";

export type FleetOptions = {
  tasks: TaskQueue;
  store: BlobStore;
  /**
   * Executes in this process: for executions beyond the fleet's abilities, and for decisions between disagreeing
   * executors.
   */
  here: Execute;
  /** The share of all executions repeated by another executor before anything is signed: 0 to 1. */
  againShare: number;
  health: Health;
  meter: Meter;
  log: Logger;
  /** How long another executor may take before this process makes the repetition itself, in milliseconds. */
  againMs?: number;
  /** How long others may take until this process executes itself, milliseconds: half of the time that is left. */
  patience?: { min: number; max: number };
};

/** An execution requested from others. */
type Work = {
  asked: Omit<Asked, "inputs" | "text">;
  inputs: readonly Uint8Array[];
  /** A stretch's text. */
  text?: Uint8Array | undefined;
  /** Bytes of each tensor of the outcome. */
  bytes: readonly number[];
  /** Does it in this process. @returns the same tensors */
  here: (order: ExecutionOrder) => Promise<readonly Uint8Array[]>;
};

/** The tensors of an outcome, and their trees. */
type Result = { tensors: readonly Uint8Array[]; trees: readonly MerkleList[] };

/** The default share of repeated executions. */
export const AGAIN_SHARE = 1;
const AGAIN_MS = 120_000;
const PATIENCE = { min: 15_000, max: 600_000 };

/** After waiting in vain, others are not asked for this many times as long. */
const SILENT = 4;
const COUNTED_MS = 5_000;

/**
 * Errors after which this process executes the task itself. Poisoned tasks are excluded: a killer of executors would
 * kill this process too.
 */
const FALLBACKS = [QueueUnavailableError, TaskFailedError, StoreError, StoreFullError, StoreCorruptError];

/** Tries of a task whose tensors are not in the store, or are others. */
const TRIES = 3;

/** A share is drawn in millionths. */
const MILLION = 1_000_000;

/** Maximum number of remembered tensor roots in the store. Recently stored tensors are not stored again. */
const MAX_KNOWN = 10_000;

/** After this time, a stored tensor may already be deleted. */
const KNOWN_MS = 3_600_000;

/**
 * Has a fleet execute. Executors and the store belong to the operator, and are still not trusted. Each tensor is
 * compared with the tensor's root, and another executor repeats a random share of executions. If two executors differ,
 * this process executes, and a wrong executor gets no more tasks. If a run's items carry state, an executor gets
 * several items together, as a stretch: each item needs the previous item's state, and moving the state takes longer
 * than most items.
 */
export class FleetExecutions implements ExecutionQueue {
  readonly #options: FleetOptions;
  readonly #wrong = new Set<string>();
  /** When inputs were put into the store, by root, the oldest first. */
  readonly #known = new Map<string, number>();
  #counted = { count: 0, at: 0 };
  /** Until when others are not asked about a program, because they were silent about it: milliseconds. */
  readonly #silentUntil = new Map<string, number>();
  /** When a task of a program was answered last. */
  readonly #answeredAt = new Map<string, number>();

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  readonly execute: Execute = Object.assign((...args: Parameters<Execute>) => this.#execute(...args), {
    stretch: (...args: Parameters<ExecuteStretch>) => this.#stretch(...args),
    device: () => this.#options.here.device?.() ?? "cpu",
  });

  async close(): Promise<void> {
    await this.#options.tasks.close();
  }

  async #execute(...[model, inputs, keep, trees, order]: Parameters<Execute>): Promise<Uint8Array[]> {
    checkInputs(model, inputs);
    const { here } = this.#options;
    const { program, programRoot } = model;
    const checkpoints = new Set(trees === undefined ? [] : program.checkpoints.map(({ step }) => step));
    const steps = program.steps.flatMap((_, s) => (keep === undefined || keep(s) || checkpoints.has(s) ? [s] : []));
    const wanted = new Set(steps);
    const result = await this.#byOthers(
      {
        asked: { programRoot, steps },
        inputs,
        bytes: steps.map((step) => bytesOf(program.steps[step]!)),
        here: async (own) => {
          const tensors = await here(model, inputs, (step) => wanted.has(step), undefined, own);
          return steps.map((step) => tensors[step]!);
        },
      },
      order,
    );
    if (result === undefined) return here(model, inputs, keep, trees, order);
    const tensors: Uint8Array[] = [];
    steps.forEach((step, k) => {
      tensors[step] = result.tensors[k]!;
      if (checkpoints.has(step)) trees?.set(step, result.trees[k]!);
    });
    return tensors;
  }

  readonly #stretch: ExecuteStretch = async (stretch, order) => {
    const { program, inputs, steps } = stretch;
    const { model } = program;
    const { items, firstItem } = inputs.length;
    const here = (own: ExecutionOrder | undefined) =>
      executeStretch(
        stretch,
        withOrder(this.#options.here, () => own),
      );
    const result = await this.#byOthers(
      {
        asked: { programRoot: model.programRoot, steps, run: { items, firstItem } },
        inputs: inputs.bytes.filter(({ length }) => isSent(length)),
        text: stretch.text,
        bytes: [...steps.map((step) => bytesOf(model.program.steps[step]!)), rootBytes(model.program, items)],
        here: async (own) => {
          const { tensors, roots } = await here(own);
          return [...steps.map((step) => tensors[step]!), roots];
        },
      },
      order,
    );
    if (result === undefined) return here(order);
    const tensors: Uint8Array[] = [];
    steps.forEach((step, k) => (tensors[step] = result.tensors[k]!));
    return { tensors, roots: result.tensors.at(-1)! };
  };

  /** @returns undefined where others cannot do it: then it is to be done here */
  async #byOthers(work: Work, { due = Infinity }: ExecutionOrder = {}): Promise<Result | undefined> {
    const { meter, health } = this.#options;
    const { programRoot } = work.asked;
    if (Date.now() < (this.#silentUntil.get(programRoot) ?? 0)) {
      meter.fleet("here");
      return undefined;
    }
    try {
      const result = await this.#inTime(this.#ask(work, due), due, programRoot);
      if (this.#wrong.size === 0) health.set("fleet", undefined);
      return result;
    } catch (error) {
      // Inputs that executors cannot find are stored again the next time.
      this.#known.clear();
      if (!FALLBACKS.some((one) => error instanceof one)) throw error;
      // Clocks run: what others do not do is done here.
      const { message, code } = error as RefuteError;
      this.#report(message, code);
      meter.fleet("here");
      return undefined;
    }
  }

  /**
   * Waits for others for half of the remaining time. If others answer none of the program's tasks meanwhile, this
   * process stops asking them about the program for some time, unless they answer. Otherwise a run's items would wait
   * one after the other until the claim is due.
   * @throws TaskFailedError
   */
  async #inTime(result: Promise<Result>, due: number, programRoot: string): Promise<Result> {
    const began = Date.now();
    const { min, max } = this.#options.patience ?? PATIENCE;
    const half = (due * 1_000 - Date.now()) / 2;
    const patience = Math.min(max, Math.max(min, half));
    const ended = new AbortController();
    const late = sleep(patience, undefined, { signal: ended.signal }).then(() => {
      if ((this.#answeredAt.get(programRoot) ?? 0) < began)
        this.#silentUntil.set(programRoot, Date.now() + SILENT * patience);
      throw new TaskFailedError(`no executor did a task within ${Math.round(patience / 1_000)} s`);
    });
    for (const one of [result, late]) one.catch(() => undefined);
    return Promise.race([result, late]).finally(() => ended.abort());
  }

  async #ask(work: Work, due: number): Promise<Result> {
    if ((await this.#executors()) === 0) throw new QueueUnavailableError("no executor is connected to the queue");
    const [text] = work.text === undefined ? [] : await this.#putAll([work.text]);
    const asked = { ...work.asked, inputs: await this.#putAll(work.inputs), ...(text && { text }) };
    for (let tries = 1; ; tries++) {
      // The queue remembers what was done.
      const task = taskOf(asked, due, [...this.#wrong], tries === 1 ? "" : randomUUID());
      const outcome = await this.#submit(task);
      try {
        return (await this.#corrected(task, outcome, work)) ?? (await this.#fetch(work, outcome));
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

  /** Returns the number of connected executors, at most some seconds old. */
  async #executors(): Promise<number> {
    const { at, count } = this.#counted;
    if (count > 0 && Date.now() - at < COUNTED_MS) return count;
    this.#counted = { count: await this.#options.tasks.executors(), at: Date.now() };
    return this.#counted.count;
  }

  async #submit(task: Task): Promise<TaskOutcome> {
    const outcome = await this.#options.tasks.submit(task);
    const [has, needs] = [outcome.tensors.length, tensorsOf(task)];
    if (has !== needs) throw new TaskFailedError(`${outcome.executor} gave ${has} of ${needs} tensors`);
    this.#answeredAt.set(task.programRoot, Date.now());
    this.#silentUntil.delete(task.programRoot);
    this.#options.meter.fleet("done");
    return outcome;
  }

  /**
   * Has another executor confirm an outcome, if the draw selects it.
   * @returns This process's own result if the executors disagree or no other executor exists; undefined after
   *   confirmation
   */
  async #corrected(task: Task, first: TaskOutcome, work: Work): Promise<Result | undefined> {
    const isSuspect = this.#wrong.has(first.executor);
    if (!isSuspect && randomInt(MILLION) >= this.#options.againShare * MILLION) return undefined;
    const again = isSuspect ? undefined : this.#againOf(task, first);
    const second = again && (await this.#again(again, first));
    this.#options.meter.fleet("again");
    if (second !== undefined && sameRoots(first, second.tensors)) return undefined;
    const own = await this.#doHere(task, work);
    const roots = own.tensors.map(({ length }, k) => ({ root: own.trees[k]!.root, bytes: length }));
    for (const [of, outcome] of [[task, first] as const, [again, second] as const]) {
      if (of === undefined || outcome === undefined || sameRoots(outcome, roots)) continue;
      this.#distrust(outcome.executor, of);
      await this.#replace(of, own, roots).catch((error: unknown) => {
        this.#options.log.warn({ task: of.id, reason: (error as Error).message }, "a wrong result stays in the store");
      });
    }
    return own;
  }

  /** Makes the task that has another executor repeat an outcome. */
  #againOf({ due, not, ...asked }: Task, { executor }: TaskOutcome): Task {
    return taskOf(asked, due ?? Infinity, [...new Set([...not, executor])], `not by ${executor}`);
  }

  /** @returns undefined without another executor, or if the executor takes too long */
  async #again(again: Task, { executor }: TaskOutcome): Promise<TaskOutcome | undefined> {
    if ((await this.#executors()) < 2) return undefined;
    const outcome = this.#submit(again).catch(() => undefined);
    const ended = new AbortController();
    const { againMs = AGAIN_MS } = this.#options;
    const late = sleep(againMs, undefined, { signal: ended.signal }).catch(() => undefined);
    const second = await Promise.race([outcome, late]).finally(() => ended.abort());
    return second?.executor === executor ? undefined : second;
  }

  async #doHere({ due }: Task, { here }: Work): Promise<Result> {
    this.#options.meter.fleet("here");
    const tensors = await here({ due: due ?? Infinity });
    return { tensors, trees: tensors.map(tensorTree) };
  }

  /** Replaces a wrong result by this process's own result. Others might otherwise take the wrong result for done. */
  async #replace(task: Task, { tensors }: Result, refs: readonly TensorRef[]): Promise<void> {
    await this.#putAll(tensors);
    const own: TaskOutcome = { executor: "a role", tensors: refs };
    await this.#options.store.put(outcomeName(task.id), new TextEncoder().encode(JSON.stringify(own)));
    await this.#options.tasks.forget(task.id);
  }

  #distrust(executor: string, { programRoot, id }: Task): void {
    this.#wrong.add(executor);
    this.#options.meter.fleet("differs");
    this.#options.log.error({ executor, program: programRoot, task: id }, "an executor computed wrongly");
    const who = [...this.#wrong].join(", ");
    this.#report(
      `${who} computed wrongly and gets no more tasks until this process is started again`,
      "EXECUTOR_WRONG",
    );
  }

  #report(reason: string, code: string): void {
    this.#options.health.set("fleet", { reason, code });
  }

  /** Fetches an outcome's tensors, and compares each with its root. @throws StoreCorruptError */
  async #fetch({ asked, bytes: lengths }: Work, { executor, tensors: refs }: TaskOutcome): Promise<Result> {
    const { store } = this.#options;
    const all = refs.map(async (ref, k) => {
      const bytes = await store.get(tensorName(ref), lengths[k]!);
      const tensor = k in asked.steps ? `the tensor of step ${asked.steps[k]}` : "the roots of the items";
      const what = `${tensor} from ${executor} in ${store.name}`;
      if (bytes === undefined) throw new StoreCorruptError(`${what} is not there`);
      if (bytes.length !== lengths[k]) throw new StoreCorruptError(`${what} has another length`);
      const tree = tensorTree(bytes);
      if (tree.root !== ref.root) throw new StoreCorruptError(`${what} has another root`);
      return { bytes, tree };
    });
    const done = await Promise.all(all);
    return { tensors: done.map(({ bytes }) => bytes), trees: done.map(({ tree }) => tree) };
  }

  /** Deletes a task's results, to prevent executors from taking the task for done. */
  async #forget({ id }: Task, { tensors }: TaskOutcome): Promise<void> {
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

const sameRoots = ({ tensors }: TaskOutcome, others: readonly TensorRef[]): boolean =>
  tensors.length === others.length && tensors.every(({ root }, k) => root === others[k]!.root);
