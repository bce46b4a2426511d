import { getOrAdd } from "../../base/getOrAdd.ts";

/** The marks of a request among others. */
export type Identity = {
  /** Who asks. */
  owner: string;
  /** The client's key of idempotency, if given. */
  idempotency: string | undefined;
  /** Whether the client repeats the request because no answer came. */
  isRetry: boolean;
  signal: AbortSignal;
};

type UnderWay = { signal: AbortSignal; ended: Promise<void> };

/** Requests under way: a repeated request waits for the end of the earlier sending, and goes on from that point. */
export class SameRequests {
  readonly #keyed = new Map<string, Promise<void>>();
  /** Requests without a key, by their content. */
  readonly #others = new Map<string, Set<UnderWay>>();

  /**
   * Waits until no request under the same key of idempotency is under way. A retry without a key waits for equal
   * requests with absent clients.
   * @param fingerprint The hash of a request's content.
   * @returns ends this request @throws the signal's reason
   */
  async begin({ owner, idempotency, isRetry, signal }: Identity, fingerprint: string): Promise<() => void> {
    let resolve!: () => void;
    const ended = new Promise<void>((done) => (resolve = done));
    if (idempotency !== undefined) {
      const name = `${owner} ${idempotency}`;
      for (let other; (other = this.#keyed.get(name)) !== undefined; await aborted(other, signal));
      this.#keyed.set(name, ended);
      return () => {
        this.#keyed.delete(name);
        resolve();
      };
    }
    const name = `${owner} ${fingerprint}`;
    const equal = getOrAdd(this.#others, name, () => new Set<UnderWay>());
    const one = { signal, ended };
    equal.add(one);
    const end = (): void => {
      equal.delete(one);
      if (equal.size === 0) this.#others.delete(name);
      resolve();
    };
    try {
      const left = [...equal].filter((other) => other !== one && other.signal.aborted);
      if (isRetry) await aborted(Promise.all(left.map((other) => other.ended)), signal);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }
}

/** Waits for others, or for an abort. */
async function aborted(others: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const ended = new Promise<void>((resolve) => (stop = () => resolve()));
  signal.addEventListener("abort", stop, { once: true });
  await Promise.race([others, ended]);
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
}
