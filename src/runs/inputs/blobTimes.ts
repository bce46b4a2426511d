import type { Hex } from "viem";
import type { JobRecord } from "../../chain/market/history.ts";
import { referencesIn } from "../../chain/market/references.ts";
import { blobSeconds, oldestBlob, type BlobChain } from "./fetchBlobs.ts";

/** The pause after a failure: nodes need not have a transaction at once. It doubles with each, to an hour. */
const RETRY_MS = 15_000;
const MAX_RETRY_MS = 3_600_000;
/** How long a node's blob retention time remains valid here, before the node is asked again. */
const SECONDS_MS = 3_600_000;

type Options = { chain: BlobChain; beaconUrl: string; signal: AbortSignal };
type Failure = { tries: number; notBefore: number };

/** The times until which nodes keep jobs' blobs. Each job is looked up once, in the background. */
export class BlobTimes {
  readonly #options: Options;
  /** By job; undefined if no place of the job lies in blobs. */
  readonly #known = new Map<Hex, bigint | undefined>();
  readonly #failures = new Map<Hex, Failure>();
  #kept: { seconds: bigint; at: number } | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Unix seconds. @returns undefined if it is not known (yet), or the job has no blobs */
  of({ id }: Pick<JobRecord, "id">): bigint | undefined {
    return this.#known.get(id);
  }

  /** Starts looking up jobs with unknown times, and forgets all other jobs. */
  look(jobs: readonly JobRecord[]): void {
    const ids = new Set(jobs.map(({ id }) => id));
    for (const map of [this.#known, this.#failures]) for (const id of map.keys()) if (!ids.has(id)) map.delete(id);
    const due = jobs.filter(
      ({ id }) => !this.#known.has(id) && performance.now() >= (this.#failures.get(id)?.notBefore ?? 0),
    );
    // Jobs never looked up before do not wait for other jobs.
    due.sort((a, b) => (this.#failures.get(a.id)?.tries ?? 0) - (this.#failures.get(b.id)?.tries ?? 0));
    if (due.length === 0 || this.#looking !== undefined) return;
    this.#looking = this.#lookAt(due).finally(() => (this.#looking = undefined));
  }

  /** Resolves when nothing is looked for any more. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  async #lookAt(jobs: readonly JobRecord[]): Promise<void> {
    const { signal } = this.#options;
    for (const job of jobs) {
      if (signal.aborted) return;
      try {
        this.#known.set(job.id, await this.#timeOf(job));
      } catch {
        // Whether the inputs can be had is said where they are fetched.
        const tries = (this.#failures.get(job.id)?.tries ?? 0) + 1;
        const pause = Math.min(RETRY_MS * 2 ** (tries - 1), MAX_RETRY_MS);
        this.#failures.set(job.id, { tries, notBefore: performance.now() + pause });
      }
    }
  }

  async #timeOf({ postedIn }: JobRecord): Promise<bigint | undefined> {
    const { input } = await this.#options.chain.getTransaction({ hash: postedIn });
    let earliest: bigint | undefined;
    for (const reference of referencesIn(input)) {
      if (reference.kind !== "blobs") continue;
      const since = await oldestBlob(reference, this.#options);
      if (earliest === undefined || since < earliest) earliest = since;
    }
    return earliest === undefined ? undefined : earliest + (await this.#seconds());
  }

  async #seconds(): Promise<bigint> {
    const { beaconUrl, signal } = this.#options;
    if (this.#kept === undefined || performance.now() - this.#kept.at > SECONDS_MS)
      this.#kept = { seconds: await blobSeconds(beaconUrl, signal), at: performance.now() };
    return this.#kept.seconds;
  }
}
