/**
 * Actions that run in parallel with a loop's rounds, at most one per key: an execution takes long, while games' clocks
 * run. Actions handle their own errors.
 */
export class Tasks {
  readonly #running = new Map<string, Promise<void>>();

  /**
   * The keys of the actions that run now. Read before a snapshot, they say whose effects the snapshot may not show yet.
   */
  get running(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** Starts an action, unless an action with the same key is running. */
  start(key: string, action: () => Promise<void>): void {
    if (this.#running.has(key)) return;
    this.#running.set(
      key,
      action().finally(() => this.#running.delete(key)),
    );
  }

  /** Resolves when nothing runs any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}
