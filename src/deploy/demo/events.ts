/** Events of a running loop, to wait for. */
export class Inbox<E> {
  readonly all: E[] = [];
  #waiting: { matches: (event: E) => boolean; resolve: (event: E) => void }[] = [];

  readonly put = (event: E): void => {
    this.all.push(event);
    this.#waiting = this.#waiting.filter(({ matches, resolve }) => {
      if (!matches(event)) return true;
      resolve(event);
      return false;
    });
  };

  /** The first event that matches, past or to come. @throws Error after the time limit, with what was waited for. */
  async first<F extends E>(what: string, matches: (event: E) => event is F, limitMs = 120_000): Promise<F> {
    const known = this.all.find(matches);
    if (known !== undefined) return known;
    return new Promise<F>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`waited ${limitMs / 1000} s for: ${what}`)), limitMs);
      // The awaited events come from other processes; the limit alone keeps no process alive.
      timer.unref();
      const settle = (event: E) => {
        clearTimeout(timer);
        resolve(event as F);
      };
      this.#waiting.push({ matches, resolve: settle });
    });
  }
}
