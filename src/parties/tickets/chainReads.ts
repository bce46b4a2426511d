import { RefusedError } from "./errors.ts";

/** Lifetime of cached chain data on a pledge or a deposit, milliseconds. */
const FRESH_MS = 10_000;
const MOST = 10_000;

/** Chain data that is read again after some seconds. */
export class ChainReads {
  readonly #read = new Map<string, { at: number; value: Promise<unknown> }>();

  /** @throws RefusedError if the chain cannot be read */
  fresh<T>(key: string, read: () => Promise<T>, freshMs = FRESH_MS): Promise<T> {
    const known = this.#read.get(key);
    const now = performance.now();
    if (known !== undefined && now - known.at < freshMs) return known.value as Promise<T>;
    const value = read().catch((cause: unknown) => {
      this.#read.delete(key);
      throw new RefusedError(503, "the chain cannot be read: ask again later", { cause });
    });
    if (this.#read.size > MOST) this.#read.clear();
    this.#read.set(key, { at: now, value });
    return value;
  }
}
