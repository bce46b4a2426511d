import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { open, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hexToBytes, type Hex } from "viem";
import { getOrAdd } from "../base/getOrAdd.ts";
import { KERNEL_HASHES } from "../numerics/kernels/kernelHashes.ts";
import type { JobRecord } from "../chain/market/history.ts";
import { readHeader } from "../program/header.ts";
import type { Program } from "../program/types.ts";
import { bytesOf } from "../program/trace/runInputs.ts";
import { writeWhole } from "../base/writeWhole.ts";
import type { Problem } from "../base/health.ts";
import { rootBytes } from "../dispute/run/runRoots.ts";
import { snapshotInterval, StoredRun, type RunFiles } from "../dispute/run/storedRun.ts";

/** Default limit for runs on disk: 16 GiB. */
export const STORED_BYTES = 2 ** 34;
const DIGEST_BYTES = 32;

/** The name ending of an unfinished file. */
const UNFINISHED = ".part";

/** After this time, an unfinished file counts as left by a killed process. */
const ABANDONED_MS = 3_600_000;
const MIB = 2 ** 20;

/** Results of other kernels are computed again: they may have been wrong. */
const KERNELS = JSON.stringify(KERNEL_HASHES);

/** Node reads and hashes less than 2 GiB at a time. */
const AT_ONCE = 2 ** 30;

/** Options for storing jobs' runs. */
type StoredRunsOptions = {
  /** A folder of nobody else's. Without it everything is kept in memory. */
  folder?: string | undefined;
  /** The most bytes of files in it. */
  maxBytes?: number | undefined;
  /** Where runs are kept besides, if anywhere. */
  share?: RunShare | undefined;
};

/** A second place for this account's runs, in addition to the disk, for a machine that takes over. No method fails. */
export type RunShare = {
  /** Lists the names of the shared files for a job's run. @returns "unread" if the list cannot be read now. */
  names: (id: Hex) => Promise<readonly string[] | "unread">;
  /** @returns undefined for a missing file, or a file of another account; "unread" if the file cannot be read now. */
  read: (id: Hex, name: string, maxBytes: number) => Promise<Uint8Array | "unread" | undefined>;
  /** Puts a file there, sooner or later. Its parts may change once this is called. */
  write: (id: Hex, name: string, parts: readonly Uint8Array[]) => void;
  /** Deletes the shared files for a job's run, sooner or later. Files from before this call are not read again. */
  delete: (id: Hex) => void;
};

/**
 * Returns the disk bytes that a job's run takes: the roots for items and outputs, and the kept states.
 * @throws ProgramFormatError if the job's program header is unreadable
 */
export function storedBytesOf({ job, program }: Pick<JobRecord, "job" | "program">): number {
  const { items } = job;
  if (items === 1) return 0;
  const { inputs, outputs } = readHeader(hexToBytes(program.header));
  const state = inputs.reduce((sum, input) => sum + (input.source.kind === "carried" ? bytesOf(input) : 0), 0);
  const states = state === 0 ? 0 : Math.floor((items - 1) / snapshotInterval(items));
  const each = outputs.flatMap((output, k) => (output.each ? [k] : []));
  const roots = rootBytes({ outputs: outputs.map(({ checkpoint }) => checkpoint), each }, items);
  return states * (state + DIGEST_BYTES) + roots + DIGEST_BYTES;
}

/**
 * Data about runs that outlive the executions, by job, in a folder of limited size. They are a cache: a faulty file
 * counts as absent. Each file is a SHA-256 and the hashed data: the kernels, the file's name and the bytes. A file is
 * written under a temporary name and then renamed. Nothing protects against others with write access to the folder.
 */
export class StoredRuns {
  readonly #folder: string | undefined;
  readonly #maxBytes: number;
  readonly #share: RunShare | undefined;
  /** Names of shared files not yet on disk, for jobs looked up so far. */
  readonly #shared = new Map<Hex, Set<string>>();
  readonly #runs = new Map<Hex, StoredRun>();
  /** The bytes of each file, by job and name. */
  readonly #files = new Map<Hex, Map<string, number>>();
  /** The bytes that jobs take or are going to take. */
  #reserved: ReadonlyMap<Hex, number> = new Map();
  /** Bytes now being written, beyond the bytes of the replaced files. */
  #writing = 0;
  #problem: Problem | undefined;

  constructor({ folder, maxBytes = STORED_BYTES, share }: StoredRunsOptions = {}) {
    [this.#folder, this.#maxBytes, this.#share] = [folder, maxBytes, share];
    if (folder !== undefined) this.#find(folder);
  }

  /** Why the latest file could not be written. @returns undefined if it was, or nothing waits to be written. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  /** Returns the stored data of a job's run. */
  of({ id, job }: Pick<JobRecord, "id" | "job">, program: Pick<Program, "inputs" | "outputs" | "each">): StoredRun {
    return getOrAdd(this.#runs, id, () => {
      const isKept = (): boolean => this.#runs.get(id) === run;
      const files = this.#folder === undefined || job.items === 1 ? undefined : this.#filesOf(id, isKept);
      const run: StoredRun = new StoredRun(program, job.items, files);
      return run;
    });
  }

  /** Puts room aside. @param jobs That are claimed or may be disputed. */
  reserve(jobs: readonly Pick<JobRecord, "id" | "job" | "program">[]): void {
    this.#reserved = new Map(jobs.map((job) => [job.id, storedBytesOf(job)]));
  }

  /** Returns whether so many bytes fit into an otherwise empty store. */
  canHold(bytes: number): boolean {
    return this.#folder === undefined || bytes <= this.#maxBytes;
  }

  /** Returns why `bytes` more do not fit, in addition to the reserved bytes. @returns undefined if they fit. */
  async problemOf(bytes: number): Promise<Problem | undefined> {
    if (this.#folder === undefined || bytes === 0) return undefined;
    if (this.#problem !== undefined) return this.#problem;
    const left = this.#outstanding();
    const taken = this.#used() + left;
    if (taken + bytes > this.#maxBytes) {
      const [has, needs, max] = [taken, bytes, this.#maxBytes].map((each) => Math.ceil(each / MIB));
      const reason = `runs take ${has} MiB on disk, the next one ${needs}, and at most ${max} may be taken`;
      return { reason: `${reason}: raise --snapshot-mib, or wait until claims are final` };
    }
    try {
      mkdirSync(this.#folder, { recursive: true });
      const { bavail, bsize } = await statfs(this.#folder);
      const [free, needs] = [bavail * bsize, left + bytes].map((each) => Math.ceil(each / MIB)) as [number, number];
      return free >= needs ? undefined : { reason: `the disk has ${free} MiB free, and runs need ${needs}: free some` };
    } catch (error) {
      return problemOfFile(error);
    }
  }

  /**
   * Releases the memory of a job's run, except the roots. A reserved job's memory stays: it may hold unwritten data.
   */
  release(id: Hex): void {
    if (this.#folder === undefined || !this.#reserved.has(id)) this.#runs.get(id)?.release();
  }

  /** Deletes the stored data of a job's run, including the shared files: the data may be wrong. */
  delete(id: Hex): void {
    this.#runs.delete(id);
    const [wasShared, hadFiles] = [this.#shared.delete(id), this.#files.delete(id)];
    if (wasShared || hadFiles) this.#share?.delete(id);
    if (hadFiles) rmSync(join(this.#folder!, id), { recursive: true, force: true });
  }

  /** Deletes the stored data of forgotten jobs. @param known The other jobs. */
  forget(known: ReadonlyMap<Hex, unknown>): void {
    for (const id of [...this.#runs.keys(), ...this.#files.keys()]) if (!known.has(id)) this.delete(id);
  }

  /** Writes data kept in memory for lack of disk space, until space runs out again. */
  async flush(): Promise<void> {
    if (this.#problem === undefined) return;
    for (const run of this.#runs.values()) if (!(await run.flush())) return;
    this.#problem = undefined;
  }

  /** @param isKept Whether the run was not deleted meanwhile. */
  #filesOf(id: Hex, isKept: () => boolean): RunFiles {
    return {
      names: () => [...(this.#files.get(id)?.keys() ?? []), ...(this.#shared.get(id) ?? [])],
      read: async (name, bytes) => (await this.#read(id, name)) ?? (await this.#readShared(id, name, bytes, isKept)),
      write: (name, parts, isSpare) => this.#write(id, name, parts, isSpare),
    };
  }

  async #read(id: Hex, name: string): Promise<Uint8Array | undefined> {
    if (this.#files.get(id)?.has(name) !== true) return undefined;
    const path = join(this.#folder!, id, name);
    const file = await readWhole(path).catch(() => undefined);
    const body = file?.subarray(DIGEST_BYTES);
    if (body && digestOf(id, name, [body]).equals(file!.subarray(0, DIGEST_BYTES))) return body;
    await rm(path, { force: true }).catch(() => undefined);
    this.#files.get(id)?.delete(name);
    return undefined;
  }

  async #readShared(id: Hex, name: string, bytes: number, isKept: () => boolean): Promise<Uint8Array | undefined> {
    if (this.#share === undefined || !isKept()) return undefined;
    if (!this.#shared.has(id)) {
      const found = await this.#share.names(id);
      if (found === "unread" || !isKept()) return undefined;
      getOrAdd(this.#shared, id, () => new Set(found));
    }
    const names = this.#shared.get(id)!;
    if (!names.has(name)) return undefined;
    const file = await this.#share.read(id, name, bytes);
    if (file === "unread" || !isKept()) return undefined;
    names.delete(name);
    if (file !== undefined) await this.#write(id, name, [file], true);
    return file;
  }

  async #write(id: Hex, name: string, parts: readonly Uint8Array[], isSpare: boolean): Promise<boolean> {
    const bytes = parts.reduce((sum, { length }) => sum + length, DIGEST_BYTES);
    // A file of the same name is replaced.
    const more = bytes - (this.#files.get(id)?.get(name) ?? 0);
    if (this.#used() + this.#outstanding(isSpare ? undefined : id) + more > this.#maxBytes) {
      if (!isSpare) this.#problem = { reason: "a run takes more on disk than is left of --snapshot-mib" };
      return false;
    }
    this.#writing += more;
    const isWritten = await this.#writeFile(id, name, parts);
    this.#writing -= more;
    if (isWritten) getOrAdd(this.#files, id, () => new Map<string, number>()).set(name, bytes);
    if (isWritten && !isSpare) this.#share?.write(id, name, parts);
    return isWritten;
  }

  async #writeFile(id: Hex, name: string, parts: readonly Uint8Array[]): Promise<boolean> {
    const path = join(this.#folder!, id, name);
    try {
      await writeWhole(path, UNFINISHED, (file) => writeFile(file, [digestOf(id, name, parts), ...parts]));
    } catch (error) {
      this.#problem = problemOfFile(error);
      return false;
    }
    return true;
  }

  #used(): number {
    let sum = this.#writing;
    for (const files of this.#files.values()) for (const bytes of files.values()) sum += bytes;
    return sum;
  }

  /** Returns the reserved bytes that are not written yet. @param but A job to leave out. */
  #outstanding(but?: Hex): number {
    let sum = 0;
    for (const [id, bytes] of this.#reserved) {
      if (id === but) continue;
      let written = 0;
      for (const size of this.#files.get(id)?.values() ?? []) written += size;
      sum += Math.max(0, bytes - written);
    }
    return sum;
  }

  /** Takes over what an earlier process left. */
  #find(folder: string): void {
    for (const id of this.#list(folder)) {
      const files = new Map<string, number>();
      for (const name of this.#list(join(folder, id))) {
        const path = join(folder, id, name);
        // Another process may have renamed or deleted it.
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat === undefined) continue;
        if (!name.endsWith(UNFINISHED)) files.set(name, stat.size);
        else if (Date.now() - stat.mtimeMs > ABANDONED_MS) rmSync(path, { force: true });
      }
      if (files.size > 0) this.#files.set(id as Hex, files);
    }
  }

  /** Lists a folder's entries; an empty list for anything missing or not a folder. */
  #list(path: string): string[] {
    try {
      return readdirSync(path);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!["ENOENT", "ENOTDIR"].includes(code)) this.#problem = problemOfFile(error);
      return [];
    }
  }
}

function digestOf(id: Hex, name: string, parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256").update(`${KERNELS}/${id}/${name}\n`);
  for (const part of parts)
    for (let at = 0; at < part.length; at += AT_ONCE) hash.update(part.subarray(at, at + AT_ONCE));
  return hash.digest();
}

/** The bytes of a file, of any size. */
async function readWhole(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const bytes = new Uint8Array((await file.stat()).size);
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await file.read(bytes, at, Math.min(AT_ONCE, bytes.length - at));
      if (bytesRead === 0) throw new RangeError("the file became shorter");
      at += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

const problemOfFile = (error: unknown): Problem => ({
  reason: `runs cannot be kept on disk (${(error as NodeJS.ErrnoException).code}): free some of it, or use --cache`,
});
