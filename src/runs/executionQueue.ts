import { maxThreads } from "../executor/createExecutor.ts";
import { around, type Execute, type ExecutionOrder } from "./execute.ts";

/** Where executions go: into this process, or to other machines (src/runs/fleet). */
export type ExecutionQueue = {
  readonly execute: Execute;
  /** Closes the queue. Nothing may still wait for the queue, except for results of other machines. */
  close: () => Promise<void>;
};

/**
 * Maximum number of executions running at a time: enough to keep all threads busy with items of a run, plus two
 * executions that are not items.
 */
const AT_ONCE = 2 * maxThreads() + 2;

type Waiting = { due: number; begin: () => void };

/**
 * Executes in this process. The execution due first begins first; with equal due times, the first request begins first.
 */
export class EmbeddedQueue implements ExecutionQueue {
  readonly execute: Execute;
  readonly #waiting: Waiting[] = [];
  readonly #atOnce: number;
  #running = 0;

  /** @param atOnce Executions that are begun at a time. */
  constructor(execute: Execute, atOnce = AT_ONCE) {
    this.#atOnce = atOnce;
    this.execute = around(execute, (action, order) => this.#inTurn(order, () => action(order)));
  }

  async #inTurn<T>(order: ExecutionOrder | undefined, action: () => Promise<T>): Promise<T> {
    if (this.#running < this.#atOnce) this.#running++;
    else await new Promise<void>((begin) => this.#waiting.push({ due: order?.due ?? Infinity, begin }));
    try {
      return await action();
    } finally {
      this.#next();
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Gives an ended execution's place to the next execution. */
  #next(): void {
    const first = this.#waiting.reduce((best, { due }, k) => (due < this.#waiting[best]!.due ? k : best), 0);
    const [next] = this.#waiting.splice(first, 1);
    if (next === undefined) this.#running--;
    else next.begin();
  }
}
