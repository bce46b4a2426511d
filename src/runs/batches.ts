import { setImmediate } from "node:timers/promises";
import { EngineFaultError } from "../executor/errors.ts";
import { checkInputs } from "../executor/sources.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { bytesOf } from "../program/trace/runInputs.ts";
import { keptSteps } from "../program/trace/runItems.ts";
import { around, type Execute } from "./execute.ts";
import { BatchTimes } from "./batchTimes.ts";

/** Requests that run at once, and items that are executed together. */
const AT_ONCE = 8;
/** The most bytes that requests carry from item to item, together. */
const CARRIED_BYTES = 2 ** 28;
/** Slow requests get this share of the waiting requests' time: waiting requests take half as long again. */
const SLOW_SHARE = 1 / 2;

/** A request's waiting execution. */
type Job = {
  request: Request;
  model: CompiledModel;
  /** The item's inputs, if the item may be executed beside items of other requests. */
  inputs?: readonly Uint8Array[];
  /** The number of items. */
  items: number;
  alone: () => Promise<unknown>;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
};

type Request = {
  /** Whether the latest items took much longer than usual: sums need integers, say. */
  isSlow: boolean;
  /** Whether the latest batch took too long: the next item is executed alone, to find the slow request. */
  isSuspect: boolean;
  /** Milliseconds of the executions alone. */
  milliseconds: number;
};

/** A request in a place, or waiting for a place. */
type Place = { model: CompiledModel; begin: () => void };

/**
 * Executes runs for several requests. Waiting items of one program are executed together where batches are faster by
 * measurement; otherwise requests follow each other. Batches change no bits. Executions take turns, and a request with
 * unusually slow items leaves the batches: the request gets a part of the time while others wait.
 */
export class Batches {
  readonly #execute: Execute;
  readonly #clock: () => number;
  readonly #times = new WeakMap<CompiledModel, BatchTimes>();
  readonly #jobs: Job[] = [];
  #isExecuting = false;
  readonly #running: Place[] = [];
  readonly #waiting: Place[] = [];
  /** The milliseconds left to slow requests; below zero, other requests come first. */
  #slowCredit = 0;

  /** @param clock Milliseconds. */
  constructor(execute: Execute, clock: () => number = () => performance.now()) {
    [this.#execute, this.#clock] = [execute, clock];
  }

  /**
   * Runs a request once a place is free. Requests get places in order.
   * @param action Gets the way to execute the request's items.
   * @returns the action's result, and the milliseconds that the executions take alone
   */
  run<T>(model: CompiledModel, action: (execute: Execute) => Promise<T>): Promise<{ result: T; milliseconds: number }> {
    return this.#inPlace(model, async () => {
      const request: Request = { isSlow: false, isSuspect: false, milliseconds: 0 };
      const result = await action(this.#executeFor(request));
      return { result, milliseconds: request.milliseconds };
    });
  }

  async #inPlace<T>(model: CompiledModel, action: () => Promise<T>): Promise<T> {
    const place = await new Promise<Place>((begin) => {
      const own: Place = { model, begin: () => begin(own) };
      this.#waiting.push(own);
      this.#admit();
    });
    try {
      return await action();
    } finally {
      this.#running.splice(this.#running.indexOf(place), 1);
      this.#admit();
    }
  }

  /** Gives places to requests in order: no request overtakes a request for another program. */
  #admit(): void {
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined || this.#running.some(({ model }) => model !== first.model)) return;
      if (this.#running.length >= this.#placesOf(first.model)) return;
      this.#waiting.shift();
      this.#running.push(first);
      first.begin();
    }
  }

  /** The number of requests at once for a program. */
  #placesOf(model: CompiledModel): number {
    if (this.#execute.apart === undefined || !this.#timesOf(model).mayPay) return 1;
    const carried = model.program.inputs.filter(({ source }) => source?.kind === "carried");
    const bytes = carried.reduce((sum, input) => sum + bytesOf(input), 0);
    return Math.max(1, Math.min(AT_ONCE, Math.floor(CARRIED_BYTES / Math.max(1, bytes))));
  }

  #timesOf(model: CompiledModel): BatchTimes {
    const known = this.#times.get(model) ?? new BatchTimes();
    this.#times.set(model, known);
    return known;
  }

  #executeFor(request: Request): Execute {
    const execute = this.#execute;
    const own: Execute = async (model, inputs, keep, trees, order) => {
      checkInputs(model, inputs);
      const kept = keptSteps(model.program);
      const isPlain = trees === undefined && model.program.steps.every((_, s) => keep?.(s) !== true || kept.has(s));
      return this.#queue({
        ...{ request, model, items: 1 },
        ...(isPlain && keep && { inputs }),
        alone: () => execute(model, inputs, keep, trees, order),
      });
    };
    const { block } = execute;
    const inTurn: Execute["block"] =
      block &&
      ((asked, order) =>
        this.#queue({ request, model: asked.model, items: asked.items.length, alone: () => block(asked, order) }));
    const others = around(execute, (action, order) => action(order));
    return Object.assign(own, others, { block: inTurn, apart: undefined });
  }

  #queue<T>(job: Omit<Job, "resolve" | "reject">): Promise<T> {
    const done = new Promise<T>((resolve, reject) => this.#jobs.push({ ...job, resolve, reject }));
    void this.#executeAll();
    return done;
  }

  async #executeAll(): Promise<void> {
    if (this.#isExecuting) return;
    this.#isExecuting = true;
    // Requests whose items have just ended ask for their next items first.
    for (await setImmediate(); this.#jobs.length > 0; await setImmediate()) await this.#next();
    this.#isExecuting = false;
  }

  async #next(): Promise<void> {
    const fast = this.#jobs.find(({ request }) => !request.isSlow);
    const slow = this.#jobs.find(({ request }) => request.isSlow);
    const first = (this.#slowCredit >= 0 ? (slow ?? fast) : (fast ?? slow))!;
    const began = this.#clock();
    const together = first.request.isSlow ? [first] : this.#batchOf(first);
    for (const job of together) this.#jobs.splice(this.#jobs.indexOf(job), 1);
    if (together.length > 1) await this.#together(together);
    else await this.#alone(first);
    const time = this.#clock() - began;
    if (slow === undefined || fast === undefined) this.#slowCredit = 0;
    else this.#slowCredit += first.request.isSlow ? -time : SLOW_SHARE * time;
  }

  /** The waiting items to execute together with an item: none others where that is not faster. */
  #batchOf(first: Job): Job[] {
    const isFit = ({ request, inputs, model }: Job): boolean =>
      inputs !== undefined && model === first.model && !request.isSlow && !request.isSuspect;
    if (!isFit(first) || this.#execute.apart === undefined) return [first];
    const all = [first, ...this.#jobs.filter((job) => job !== first && isFit(job))].slice(0, AT_ONCE);
    return all.slice(0, this.#timesOf(first.model).countFor(all.length));
  }

  async #together(jobs: readonly Job[]): Promise<void> {
    const { model } = jobs[0]!;
    const times = this.#timesOf(model);
    const began = this.#clock();
    try {
      const results = await this.#execute.apart!(
        model,
        jobs.map(({ inputs }) => inputs!),
      );
      const time = this.#clock() - began;
      if (results.length === 0) times.refuse();
      // The other jobs come next.
      this.#jobs.unshift(...jobs.slice(results.length));
      const isLong = results.length > 0 && times.together(results.length, time);
      for (const [k, tensors] of results.entries()) {
        const { request, resolve } = jobs[k]!;
        request.isSuspect = isLong;
        request.milliseconds += Math.max(time / results.length, times.usual ?? 0);
        resolve(tensors as never);
      }
    } catch (error) {
      if (error instanceof EngineFaultError) {
        for (const { reject } of jobs) reject(error);
        return;
      }
      // Perhaps one item alone fails, or memory is short for several items.
      times.refuse();
      for (const job of jobs) await this.#alone(job);
    }
  }

  async #alone({ request, model, items, alone, resolve, reject }: Job): Promise<void> {
    const began = this.#clock();
    try {
      const result = await alone();
      const time = this.#clock() - began;
      request.milliseconds += time;
      request.isSlow = this.#timesOf(model).alone(items, time);
      request.isSuspect = false;
      resolve(result as never);
    } catch (error) {
      reject(error);
    }
  }
}
