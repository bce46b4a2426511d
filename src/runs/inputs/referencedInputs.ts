import { createHash } from "node:crypto";
import type { Hex, PublicClient } from "viem";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { isOpen, questionOf, stands, type JobRecord } from "../../chain/market/history.ts";
import { inputFileSize, readInputFile } from "../../chain/market/inputFile.ts";
import { referencesIn, type Reference } from "../../chain/market/references.ts";
import { withoutPaths } from "../../base/redact.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import { FetchError, FetchRefusedError } from "../../base/fetchErrors.ts";
import type { HeldInputs } from "../executions.ts";
import type { Meter } from "../figures.ts";
import type { Logger } from "../../base/log.ts";
import { BlobTimes } from "./blobTimes.ts";
import { dateOf } from "./fetchBlobs.ts";
import { fetchReference, type InputSources } from "./fetchReference.ts";
import { secondsFor } from "./readBody.ts";
import { InputStore } from "./inputStore.ts";

/** How the inputs are fetched that jobs refer to. */
export type ReferenceOptions = {
  sources: InputSources;
  /** The most bytes of one job's inputs. `MAX_INPUT_BYTES` if absent. */
  maxInputBytes?: number | undefined;
  /** The most bytes of all that are kept. `KEPT_INPUT_BYTES` if absent. */
  keptInputBytes?: number | undefined;
  /** Whether places must keep the inputs until the job's last dispute ends, as far as known. */
  mustLast?: boolean | undefined;
  /** How long one place may take to give them, if not by the slowest speed allowed. */
  seconds?: number | undefined;
};

/** Default limits: 256 MiB for one job, 4 GiB for all jobs. */
export const MAX_INPUT_BYTES = 2 ** 28;
export const KEPT_INPUT_BYTES = 2 ** 32;
/** Maximum bytes of inputs in memory, excluding the latest job's inputs. */
const MEMORY_BYTES = 2 ** 28;
/**
 * Maximum number of simultaneous searches, and how many may repeat a failed search. Strangers may post jobs with slow
 * places, and first searches do not wait for repeated searches.
 */
const MAX_AT_ONCE = 8;
const MAX_RETRIES_AT_ONCE = 4;
/** Inputs up to this size do not wait until larger inputs leave room. */
const SMALL_BYTES = 2 ** 20;
/** Maximum number of other jobs' transactions read for a job's places, and maximum places tried. */
const MAX_OTHERS = 3;
const MAX_PLACES = 8;
/**
 * The pause after a failure. The pause doubles with each failure, up to an hour. After wrong bytes from all places, a
 * longer pause follows.
 */
const RETRY_MS = 15_000;
const REFUSED_TRIES = 4;
const MAX_RETRY_MS = 3_600_000;

/** The state of a search for a job's inputs. */
type Search = { job: JobRecord; bytes: number; tries: number; notBefore: number; isRunning: boolean };

/** Where it is done. */
type Surroundings = {
  publicClient: Pick<PublicClient, "getTransaction" | "getBlock">;
  /** The last second at which a claim on a job may be disputed. */
  lastSecondOf: (job: JobRecord) => bigint;
  /** Whether the job may be judged here: its program is known. */
  knows: (job: JobRecord) => boolean;
  /** A folder used by nobody else; if absent, inputs are kept in memory. */
  folder: string | undefined;
  log: Logger;
  meter: Pick<Meter, "figures">;
  signal: AbortSignal;
};

/**
 * Inputs of jobs that publish none. The transactions that posted the jobs name the places. Inputs are fetched on
 * request, in the background, and returned once present. The store keeps only inputs with the job's roots, for the time
 * of the job's possible need. Nodes forget blobs: inputs in blobs are fetched immediately for each known job, before
 * anybody claims the job.
 */
export class ReferencedInputs implements HeldInputs {
  readonly #options: ReferenceOptions;
  readonly #at: Surroundings;
  readonly #store: InputStore;
  /** Those asked for longest ago first. */
  readonly #memory = new Map<string, RunInputs>();
  /** Keys of files found correct in this process, by the jobs' roots. */
  readonly #checked = new Set<string>();
  readonly #searches = new Map<string, Search>();
  readonly #running = new Map<Promise<void>, Search>();
  /** Keys of claimed jobs: their inputs are not deleted for other jobs' inputs. */
  #atStake: ReadonlySet<string> = new Set();
  /** Absent where jobs are left alone whose blobs may be forgotten too early, and where none are read. */
  readonly #blobs: BlobTimes | undefined;
  /** Jobs about whose blobs was warned. */
  readonly #warned = new Set<Hex>();

  constructor(options: ReferenceOptions, at: Surroundings) {
    [this.#options, this.#at] = [options, at];
    const usual = at.folder === undefined ? MEMORY_BYTES : KEPT_INPUT_BYTES;
    this.#store = new InputStore(at.folder, options.keptInputBytes ?? usual);
    const { beaconUrl } = options.sources;
    if (options.mustLast !== true && beaconUrl !== undefined)
      this.#blobs = new BlobTimes({ chain: at.publicClient, beaconUrl, signal: at.signal });
  }

  of(job: JobRecord): RunInputs | undefined {
    if (!job.job.rootOnly || inputFileSize(job) === undefined) return undefined;
    const key = keyOf(job);
    const known = this.#memory.get(key) ?? this.#stored(key, job);
    if (known !== undefined) this.#remember(key, known);
    else this.#want(key, job);
    return known;
  }

  has(job: JobRecord): boolean {
    const key = keyOf(job);
    // A file is read and hashed once: many jobs may wait.
    const isKnown = this.#memory.has(key) || (this.#store.has(key) && this.#checked.has(key));
    return isKnown ? job.job.rootOnly && inputFileSize(job) !== undefined : this.of(job) !== undefined;
  }

  awaits(job: JobRecord): boolean {
    return !this.has(job) && (this.#searches.get(keyOf(job))?.tries ?? 1) === 0;
  }

  keep(jobs: ReadonlyMap<Hex, JobRecord>): void {
    const known = new Set<string>();
    const atStake = new Set<string>();
    for (const job of jobs.values()) {
      if (!job.job.rootOnly) continue;
      known.add(keyOf(job));
      const isClaimed = job.holder !== undefined || job.sealed !== undefined;
      if (isClaimed || job.claims.some(isOpen)) atStake.add(keyOf(job));
    }
    if (this.#blobs !== undefined) this.#keepBlobs([...jobs.values()], this.#blobs, atStake);
    this.#atStake = atStake;
    // Files stay until their room is needed: a node that lags does not know each job.
    for (const key of this.#memory.keys()) if (!known.has(key)) this.#memory.delete(key);
    for (const key of this.#searches.keys()) if (!known.has(key)) this.#searches.delete(key);
  }

  /**
   * Fetches inputs in blobs early, in the order in which nodes forget them. If nodes may forget blobs before the last
   * dispute can end, logs a warning, and keeps these inputs in preference to others.
   *
   * SAFETY: anybody may post such jobs. Jobs that nobody has claimed take half of the room, and displace nothing.
   */
  #keepBlobs(jobs: readonly JobRecord[], blobs: BlobTimes, atStake: Set<string>): void {
    const { log, meter, folder, knows, lastSecondOf } = this.#at;
    const open = jobs.filter((job) => job.job.rootOnly && mayBeDisputed(job) && knows(job));
    blobs.look(open);
    for (const id of this.#warned) if (!open.some((job) => job.id === id)) this.#warned.delete(id);
    let blobsAtRisk = 0;
    const timed = open.flatMap((job) => {
      const until = blobs.of(job);
      return until === undefined ? [] : [{ job, until }];
    });
    timed.sort((a, b) => Number(a.until - b.until));
    for (const { job, until } of timed) {
      const [key, last] = [keyOf(job), lastSecondOf(job)];
      const isKept = this.#memory.has(key) || this.#store.has(key);
      const isHeld = (isKept || atStake.has(key) || this.#isRoomFor(job)) && this.has(job);
      if (until >= last) continue;
      if (isHeld) atStake.add(key);
      else blobsAtRisk++;
      if (this.#warned.has(job.id)) continue;
      this.#warned.add(job.id);
      const reason =
        `nodes may forget its blobs at ${dateOf(until)}, and disputes of it may end at ${dateOf(last)}: they are ` +
        (folder === undefined ? "kept in memory only: use --cache" : "fetched now; do not delete inputs-* of --cache");
      log.warn({ job: job.id, reason }, "the inputs of a job may not last as long as its disputes");
    }
    meter.figures({ blobsAtRisk });
  }

  /** Returns whether room exists for an unclaimed job's inputs, in addition to the inputs being fetched. */
  #isRoomFor(job: JobRecord): boolean {
    let bytes = inputFileSize(job) ?? 0;
    for (const search of this.#running.values()) bytes += search.bytes;
    return this.#store.isHalfFree(bytes);
  }

  /** Resolves when nothing is fetched any more. */
  async settled(): Promise<void> {
    await this.#blobs?.settled();
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
  }

  #stored(key: string, job: JobRecord): RunInputs | undefined {
    const file = this.#store.read(key);
    const inputs = file && readInputFile(job, file);
    if (inputs !== undefined) this.#checked.add(key);
    else if (file !== undefined) this.#store.delete(key);
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
    const bytes = inputFileSize(job)!;
    const search = getOrAdd(this.#searches, key, () => ({ job, bytes, tries: 0, notBefore: 0, isRunning: false }));
    if (search.isRunning || performance.now() < search.notBefore || !this.#hasSlot(search)) return;
    search.isRunning = true;
    const running = this.#search(key, search).finally(() => {
      search.isRunning = false;
      this.#running.delete(running);
    });
    this.#running.set(running, search);
  }

  #hasSlot({ bytes, tries }: Search): boolean {
    const now = [...this.#running.values()];
    const retries = now.filter((one) => one.tries > 0).length;
    if (this.#at.signal.aborted || now.length >= MAX_AT_ONCE || (tries > 0 && retries >= MAX_RETRIES_AT_ONCE))
      return false;
    if (bytes <= SMALL_BYTES) return true;
    const { maxInputBytes = MAX_INPUT_BYTES } = this.#options;
    return now.reduce((sum, one) => sum + one.bytes, bytes) <= 2 * maxInputBytes || now.length === 0;
  }

  async #search(key: string, search: Search): Promise<void> {
    const { log, signal } = this.#at;
    const { job } = search;
    try {
      const { file, inputs, uri } = await this.#fetch(search);
      this.#remember(key, inputs);
      this.#searches.delete(key);
      log.info({ job: job.id, bytes: file.length, from: withoutPaths(uri) }, "inputs fetched");
      await this.#write(key, job, file);
    } catch (error) {
      if (signal.aborted) return;
      search.tries += error instanceof FetchRefusedError ? REFUSED_TRIES : 1;
      search.notBefore = performance.now() + Math.min(RETRY_MS * 2 ** (search.tries - 1), MAX_RETRY_MS);
      const fields = { job: job.id, reason: withoutPaths((error as Error).message) };
      log.warn(fields, "the inputs of a job cannot be had from where it says; trying again later");
    }
  }

  /** Keeps a file on disk. If writing fails, the inputs remain available until their memory is needed. */
  async #write(key: string, job: JobRecord, file: Uint8Array): Promise<void> {
    try {
      await this.#store.write(key, file, (other) => !this.#atStake.has(other));
      this.#checked.add(key);
    } catch (error) {
      const fields = { job: job.id, reason: (error as Error).message };
      this.#at.log.warn(fields, "the inputs of a job cannot be kept on disk: a restart must fetch them again");
    }
  }

  /** @throws FetchError if they may be had later, FetchRefusedError */
  async #fetch({ job, bytes }: Search): Promise<{ file: Uint8Array; inputs: RunInputs; uri: string }> {
    const { maxInputBytes = MAX_INPUT_BYTES, sources, seconds, mustLast = false } = this.#options;
    const { publicClient, lastSecondOf, signal } = this.#at;
    const until = mustLast ? lastSecondOf(job) : undefined;
    if (bytes > maxInputBytes)
      throw new FetchRefusedError(`it has ${bytes} bytes of inputs, and ${maxInputBytes} are fetched at most`);
    const problems: string[] = [];
    let mayPass = false;
    let places = 0;
    // All places together have no more time than two that are slow.
    const budget = 2 * (seconds ?? secondsFor(bytes)) * 1_000;
    const end = performance.now() + budget;
    for await (const reference of this.#placesOf(job)) {
      if (++places > MAX_PLACES || performance.now() > end) break;
      try {
        const file = await fetchReference(reference, bytes, { sources, signal, seconds, chain: publicClient, until });
        const inputs = readInputFile(job, file);
        if (inputs !== undefined) return { file, inputs, uri: reference.uri };
        problems.push(`${reference.uri} has other bytes than the job names`);
      } catch (error) {
        mayPass ||= !(error instanceof FetchRefusedError);
        problems.push((error as Error).message);
      }
    }
    if (places === 0) throw new FetchError("no transaction says where they lie");
    throw new (mayPass ? FetchError : FetchRefusedError)(problems.join("; "));
  }

  /**
   * Lists the places where a job's inputs may lie: first the job's own places, then the places of other jobs with the
   * same question, by any requester.
   */
  async *#placesOf(job: JobRecord): AsyncGenerator<Reference> {
    const others = job.alike.filter((other) => other.job.rootOnly).map(({ postedIn }) => postedIn);
    const hashes = [...new Set([job.postedIn, ...others])].slice(0, 1 + MAX_OTHERS);
    const seen = new Set<string>();
    for (const hash of hashes) {
      // A node need not have the transactions of others any more.
      const found = await this.#at.publicClient.getTransaction({ hash }).catch((cause: unknown) => {
        if (hash !== job.postedIn) return undefined;
        throw new FetchError("no node has the transaction that posted it", { cause });
      });
      for (const reference of found === undefined ? [] : referencesIn(found.input)) {
        if (seen.has(reference.uri)) continue;
        seen.add(reference.uri);
        yield reference;
      }
    }
  }
}

/** Whether a claim on a job is open, or may still come. */
const mayBeDisputed = ({ closed, claims }: JobRecord): boolean => !closed && !claims.some(stands);

/** Returns the key of a job's inputs: equal keys mean equal inputs to an execution. */
const keyOf = ({ job }: Pick<JobRecord, "job">): string =>
  createHash("sha256")
    .update(`${questionOf(job)},${job.firstItem}`)
    .digest("hex")
    .slice(0, 32);
