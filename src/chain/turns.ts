import { pause } from "./pause.ts";

/** Actions under way, and actions that wait for their turn. */
export class Turns {
  readonly #running = new Set<Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  /** Runs an action immediately. */
  run<T>(action: () => Promise<T>): Promise<T> {
    const done = action();
    this.#running.add(done);
    const end = (): void => void this.#running.delete(done);
    done.then(end, end);
    return done;
  }

  /**
   * Runs an action after the end of all actions under way, in the order of the calls of this method.
   * @param longestMs Maximum wait for others, milliseconds: a slow action may not hold up all others.
   */
  runInTurn<T>(action: () => Promise<T>, longestMs: number): Promise<T> {
    const start = performance.now();
    const begun = this.#last.then(async () => {
      const over = new AbortController();
      const left = Math.max(0, start + longestMs - performance.now());
      const timeOut = pause(left, over.signal).catch(() => undefined);
      await Promise.race([Promise.allSettled(this.#running), timeOut]);
      over.abort();
      return { done: this.run(action) };
    });
    this.#last = begun;
    return begun.then(({ done }) => done);
  }
}
