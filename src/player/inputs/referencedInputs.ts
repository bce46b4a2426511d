import { createHash } from "node:crypto";
import type { Hex, PublicClient } from "viem";
import { questionOf, type JobRecord } from "../../market/history.ts";
import { inputFileSize, readInputFile } from "../../market/inputFile.ts";
import { referencesIn, type Reference } from "../../market/references.ts";
import { withoutPaths } from "../../redact.ts";
import type { RunInputs } from "../../trace/runInputs.ts";
import { FetchError, FetchRefusedError } from "../errors.ts";
import type { HeldInputs } from "../executions.ts";
import type { Logger } from "../log.ts";
import { fetchReference, type InputSources } from "./fetchReference.ts";
import { InputStore } from "./inputStore.ts";

/** How the inputs are fetched that jobs refer to. */
export type ReferenceOptions = {
  sources: InputSources;
  /** The most bytes of one job's inputs. `MAX_INPUT_BYTES` if absent. */
  maxInputBytes?: number | undefined;
  /** The most bytes of all that are kept. `KEPT_INPUT_BYTES` if absent. */
  keptInputBytes?: number | undefined;
  /** How long one place may take to give them, if not by the slowest speed allowed. */
  seconds?: number | undefined;
};

/** By default 256 MiB of one job, 4 GiB of all. */
export const MAX_INPUT_BYTES = 2 ** 28;
export const KEPT_INPUT_BYTES = 2 ** 32;
/** Bytes of inputs in memory, besides those of the latest job. */
const MEMORY_BYTES = 2 ** 28;
/** Fetched at once. */
const MAX_AT_ONCE = 2;
/** Transactions that are read for the places of one job, and places that are tried. */
const MAX_TRANSACTIONS = 4;
const MAX_PLACES = 8;
/** The pause after a failure; it doubles with each, to an hour. */
const RETRY_MS = 15_000;
const MAX_RETRY_MS = 3_600_000;

/** What became of the inputs of a job so far. */
type Search = { job: JobRecord; tries: number; notBefore: number; isRunning: boolean };

/** Where it is done. */
type Surroundings = {
  publicClient: Pick<PublicClient, "getTransaction">;
  /** Of nobody else's; inputs are kept in memory if it is absent. */
  folder: string | undefined;
  log: Logger;
  signal: AbortSignal;
};

/**
 * The inputs of jobs that publish none, from the places that the transactions which posted them name. They are fetched
 * when they are asked for, beside everything else, and given once they are there. Only what gives a job's roots is
 * kept, and kept as long as the job may need it.
 */
export class ReferencedInputs implements HeldInputs {
  readonly #options: ReferenceOptions;
  readonly #at: Surroundings;
  readonly #store: InputStore;
  /** Those asked for longest ago first. */
  readonly #memory = new Map<string, RunInputs>();
  readonly #searches = new Map<string, Search>();
  readonly #running = new Set<Promise<void>>();
  /** Keys of jobs that somebody has claimed: their inputs are not given up for those of others. */
  #atStake: ReadonlySet<string> = new Set();

  constructor(options: ReferenceOptions, at: Surroundings) {
    [this.#options, this.#at] = [options, at];
    this.#store = new InputStore(at.folder, options.keptInputBytes ?? KEPT_INPUT_BYTES);
  }

  of(job: JobRecord): RunInputs | undefined {
    if (!job.job.rootOnly || inputFileSize(job) === undefined) return undefined;
    const key = keyOf(job);
    const known = this.#memory.get(key) ?? this.#stored(key, job);
    if (known !== undefined) this.#remember(key, known);
    else this.#want(key, job);
    return known;
  }

  awaits(job: JobRecord): boolean {
    return this.of(job) === undefined && (this.#searches.get(keyOf(job))?.tries ?? 1) === 0;
  }

  keep(jobs: ReadonlyMap<Hex, JobRecord>): void {
    const needed = new Map<string, boolean>();
    for (const job of jobs.values()) {
      if (!job.job.rootOnly) continue;
      const isAtStake = job.claims.length > 0 || job.holder !== undefined || job.sealed !== undefined;
      needed.set(keyOf(job), isAtStake || needed.get(keyOf(job)) === true);
    }
    this.#atStake = new Set([...needed].flatMap(([key, isAtStake]) => (isAtStake ? [key] : [])));
    for (const key of this.#store.keys) if (!needed.has(key)) this.#store.delete(key);
    for (const key of this.#memory.keys()) if (!needed.has(key)) this.#memory.delete(key);
    for (const key of this.#searches.keys()) if (!needed.has(key)) this.#searches.delete(key);
  }

  /** Resolves when nothing is fetched any more. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #stored(key: string, job: JobRecord): RunInputs | undefined {
    const file = this.#store.read(key);
    const inputs = file && readInputFile(job, file);
    if (file !== undefined && inputs === undefined) this.#store.delete(key);
    return inputs;
  }

  #remember(key: string, inputs: RunInputs): void {
    this.#memory.delete(key);
    this.#memory.set(key, inputs);
    let bytes = [...this.#memory.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [other, { size }] of this.#memory) {
      if (bytes <= MEMORY_BYTES || other === key) return;
      this.#memory.delete(other);
      bytes -= size;
    }
  }

  #want(key: string, job: JobRecord): void {
    if (!this.#searches.has(key)) this.#searches.set(key, { job, tries: 0, notBefore: 0, isRunning: false });
    const search = this.#searches.get(key)!;
    const isDue = !search.isRunning && Date.now() >= search.notBefore;
    if (!isDue || this.#running.size >= MAX_AT_ONCE || this.#at.signal.aborted) return;
    search.isRunning = true;
    const running = this.#search(key, search).finally(() => {
      search.isRunning = false;
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  async #search(key: string, search: Search): Promise<void> {
    const { log, signal } = this.#at;
    const { job } = search;
    try {
      const { file, inputs, uri } = await this.#fetch(job);
      await this.#store.write(key, file, (other) => !this.#atStake.has(other));
      this.#remember(key, inputs);
      this.#searches.delete(key);
      log.info({ job: job.id, bytes: file.length, from: withoutPaths(uri) }, "inputs fetched");
    } catch (error) {
      if (signal.aborted) return;
      search.tries++;
      search.notBefore = Date.now() + Math.min(RETRY_MS * 2 ** (search.tries - 1), MAX_RETRY_MS);
      const fields = { job: job.id, reason: withoutPaths((error as Error).message) };
      log.warn(fields, "the inputs of a job cannot be had from where it says; trying again later");
    }
  }

  /** @throws FetchError, FetchRefusedError; RPC errors */
  async #fetch(job: JobRecord): Promise<{ file: Uint8Array; inputs: RunInputs; uri: string }> {
    const bytes = inputFileSize(job)!;
    const { maxInputBytes = MAX_INPUT_BYTES, sources, seconds } = this.#options;
    if (bytes > maxInputBytes)
      throw new FetchRefusedError(`it has ${bytes} bytes of inputs, and ${maxInputBytes} are fetched at most`);
    const problems: string[] = [];
    for (const reference of await this.#placesOf(job)) {
      try {
        const file = await fetchReference(reference, bytes, { sources, signal: this.#at.signal, seconds });
        const inputs = readInputFile(job, file);
        if (inputs !== undefined) return { file, inputs, uri: reference.uri };
        problems.push(`${reference.uri} has other bytes than the job names`);
      } catch (error) {
        if (!(error instanceof FetchError || error instanceof FetchRefusedError)) throw error;
        problems.push(error.message);
      }
    }
    throw new FetchError(problems.length === 0 ? "no transaction says where they lie" : problems.join("; "));
  }

  /** Where a job's inputs may lie: as it says itself, then as others say that ask the same. */
  async #placesOf(job: JobRecord): Promise<Reference[]> {
    const others = job.alike.filter((other) => other.job.rootOnly).map(({ postedIn }) => postedIn);
    const hashes = [...new Set([job.postedIn, ...others])].slice(0, MAX_TRANSACTIONS);
    const places = new Map<string, Reference>();
    for (const hash of hashes) {
      const { input } = await this.#at.publicClient.getTransaction({ hash });
      for (const reference of referencesIn(input)) places.set(reference.uri, reference);
    }
    return [...places.values()].slice(0, MAX_PLACES);
  }
}

/** Names the inputs of a job, as an execution takes them. */
const keyOf = ({ job }: Pick<JobRecord, "job">): string =>
  createHash("sha256")
    .update(`${questionOf(job)},${job.firstItem}`)
    .digest("hex")
    .slice(0, 32);
