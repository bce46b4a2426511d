/** Cuts a text at the first of its stops. Text that may begin a stop is held back. */
export class StopText {
  readonly #stops: readonly string[];
  #held = "";
  #isStopped = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Whether a stop has come. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** @returns what may be given of the text so far */
  next(piece: string): string {
    if (this.#isStopped) return "";
    const text = this.#held + piece;
    const places = this.#stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
    if (places.length > 0) {
      this.#isStopped = true;
      this.#held = "";
      return text.slice(0, Math.min(...places));
    }
    const kept = Math.max(0, ...this.#stops.map((stop) => begun(text, stop)));
    this.#held = text.slice(text.length - kept);
    return text.slice(0, text.length - kept);
  }

  /** @returns what is held back when nothing more comes */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** How many characters at the end of a text are the beginning of a stop. */
function begun(text: string, stop: string): number {
  let count = Math.min(text.length, stop.length - 1);
  while (count > 0 && !text.endsWith(stop.slice(0, count))) count--;
  return count;
}
