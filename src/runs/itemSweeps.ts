import { setImmediate } from "node:timers/promises";
import { executeItems } from "./executeRun.ts";
import type { RunExecution } from "../dispute/run/runExecution.ts";
import type { Execute } from "./execute.ts";

/** A caller who waits for items of a run, with a function that starts the caller once these are held. */
type Waiter = { items: readonly number[]; start: (end: () => void) => void; fail: (error: unknown) => void };

/**
 * Executes a run's missing items for many callers at once. One sweep in item order serves all callers. Each caller has
 * its turn once the items are held. Afterwards the items are released if room is short: many games at many items take
 * the memory of a few items.
 */
export class ItemSweeps {
  readonly #run: RunExecution;
  readonly #execute: Execute;
  readonly #hasRoom: () => boolean;
  #waiting: Waiter[] = [];
  #isRunning = false;

  /** @param hasRoom Whether all held items may stay in memory. */
  constructor(run: RunExecution, execute: Execute, hasRoom: () => boolean) {
    [this.#run, this.#execute, this.#hasRoom] = [run, execute, hasRoom];
  }

  /**
   * Resolves when the items are held, and they stay held until the result is called.
   * @throws what executing throws
   */
  async reach(items: readonly number[]): Promise<() => void> {
    const turn = new Promise<() => void>((start, fail) => this.#waiting.push({ items, start, fail }));
    if (!this.#isRunning) {
      this.#isRunning = true;
      void this.#sweepAll();
    }
    return turn;
  }

  async #sweepAll(): Promise<void> {
    // All who ask in the same moment share a sweep; who asks while it runs, the next one.
    for (await setImmediate(); this.#waiting.length > 0; await setImmediate()) {
      const waiting = new Set(this.#waiting.splice(0));
      const items = [...waiting].flatMap((waiter) => waiter.items);
      try {
        await this.#serve(waiting);
        await executeItems(this.#run, items, this.#execute, () => this.#serve(waiting));
      } catch (error) {
        for (const { fail } of waiting) fail(error);
      }
    }
    this.#isRunning = false;
  }

  /** Starts all callers whose items are held, and waits until they have finished. */
  async #serve(waiting: Set<Waiter>): Promise<void> {
    const ready = [...waiting].filter(({ items }) => this.#run.missing(items).length === 0);
    for (const waiter of ready) waiting.delete(waiter);
    await Promise.all(ready.map(({ start }) => new Promise<void>((end) => start(end))));
    if (!this.#hasRoom()) this.#run.release(new Set([...waiting].flatMap(({ items }) => items)));
  }
}
