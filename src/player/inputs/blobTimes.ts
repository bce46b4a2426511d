import type { Hex } from "viem";
import type { JobRecord } from "../../market/history.ts";
import { referencesIn } from "../../market/references.ts";
import { blobsKeptUntil, type BlobChain } from "./fetchBlobs.ts";

/** The pause after a failure: nodes need not have a transaction at once. */
const RETRY_MS = 60_000;

type Options = { chain: BlobChain; beaconUrl: string; signal: AbortSignal; retryMs?: number };

/** Until when nodes keep the blobs that jobs name. It is looked up beside everything else, once for each job. */
export class BlobTimes {
  readonly #options: Options;
  /** By job; without a time where none of its places is in blobs. */
  readonly #known = new Map<Hex, bigint | undefined>();
  readonly #notBefore = new Map<Hex, number>();
  #looking: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Unix seconds. @returns undefined if it is not known (yet), or the job has no blobs */
  of({ id }: Pick<JobRecord, "id">): bigint | undefined {
    return this.#known.get(id);
  }

  /** Begins to look for jobs of which it is not known, and forgets all others. */
  look(jobs: readonly JobRecord[]): void {
    const ids = new Set(jobs.map(({ id }) => id));
    for (const map of [this.#known, this.#notBefore]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    const due = jobs.filter(({ id }) => !this.#known.has(id) && Date.now() >= (this.#notBefore.get(id) ?? 0));
    if (due.length === 0 || this.#looking !== undefined) return;
    this.#looking = this.#lookAt(due).finally(() => (this.#looking = undefined));
  }

  /** Resolves when nothing is looked for any more. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #lookAt(jobs: readonly JobRecord[]): Promise<void> {
    const { signal, retryMs = RETRY_MS } = this.#options;
    for (const job of jobs) {
      if (signal.aborted) return;
      try {
        this.#known.set(job.id, await this.#timeOf(job));
      } catch {
        // Whether the inputs can be had is said where they are fetched.
        this.#notBefore.set(job.id, Date.now() + retryMs);
      }
    }
  }

  async #timeOf({ postedIn }: JobRecord): Promise<bigint | undefined> {
    const { input } = await this.#options.chain.getTransaction({ hash: postedIn });
    let earliest: bigint | undefined;
    for (const reference of referencesIn(input)) {
      if (reference.kind !== "blobs") continue;
      const until = await blobsKeptUntil(reference, this.#options);
      if (earliest === undefined || until < earliest) earliest = until;
    }
    return earliest;
  }
}
