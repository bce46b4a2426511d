/** Time that passes at once when everybody waits for later times. */
export class VirtualTime {
  /** Milliseconds since the start. */
  now = 0;
  readonly #waiting: { at: number; resolve: () => void }[] = [];

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ at: this.now + milliseconds, resolve });
    });
  }

  /** Has time pass until an action is done. */
  async during<T>(action: Promise<T>): Promise<T> {
    let isDone = false;
    const done = action.finally(() => (isDone = true));
    done.catch(() => undefined);
    while (!isDone) {
      await new Promise(setImmediate);
      const [next] = this.#waiting.sort((a, b) => a.at - b.at);
      if (next === undefined) continue;
      this.#waiting.shift();
      this.now = next.at;
      next.resolve();
    }
    return done;
  }
}
