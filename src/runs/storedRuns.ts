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

/** Bytes of runs that are kept on disk by default: 16 GiB. */
export const STORED_BYTES = 2 ** 34;
const DIGEST_BYTES = 32;

/** What a file that is being written is called. */
const UNFINISHED = ".part";

/** One that was being written for so long was left by a process that was killed. */
const ABANDONED_MS = 3_600_000;
const MIB = 2 ** 20;

/** What other kernels computed is executed again: they may have been wrong. */
const KERNELS = JSON.stringify(KERNEL_HASHES);

/** Node reads and hashes less than 2 GiB at a time. */
const AT_ONCE = 2 ** 30;

/** What is kept of the runs of jobs, and where. */
type StoredRunsOptions = {
  /** A folder of nobody else's. Without it everything is kept in memory. */
  folder?: string | undefined;
  /** The most bytes of files in it. */
  maxBytes?: number | undefined;
  /** Where runs are kept besides, if anywhere. */
  share?: RunShare | undefined;
};

/** Where runs of this account are kept beside the disk, for a machine that takes over. None of it fails. */
export type RunShare = {
  /** The names of what is there of a job's run. @returns "unread" if that could not be found out now. */
  names: (id: Hex) => Promise<readonly string[] | "unread">;
  /** @returns undefined if it is not there, or not of this account; "unread" if it could not be read now. */
  read: (id: Hex, name: string, maxBytes: number) => Promise<Uint8Array | "unread" | undefined>;
  /** Puts a file there, sooner or later. Its parts may change once this is called. */
  write: (id: Hex, name: string, parts: readonly Uint8Array[]) => void;
  /** Deletes what is there of a job's run, sooner or later. What was there before this call is not read any more. */
  delete: (id: Hex) => void;
};

/**
 * Bytes on disk that a job's run takes: the roots of its items and outputs, and the states that are kept.
 * @throws ProgramFormatError if the job's program has no header that can be read
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
 * What outlives the executions of runs, by job, in a folder of bounded size. It is a cache: whatever is wrong with a
 * file, it counts as absent. Each is a SHA-256 and what it is of: the kernels, its name and its bytes; it is written
 * beside its place and then renamed. Against whoever may write into the folder there is no protection.
 */
export class StoredRuns {
  readonly #folder: string | undefined;
  readonly #maxBytes: number;
  readonly #share: RunShare | undefined;
  /** The names of what is shared and not on disk, of jobs about which was asked. */
  readonly #shared = new Map<Hex, Set<string>>();
  readonly #runs = new Map<Hex, StoredRun>();
  /** The bytes of each file, by job and name. */
  readonly #files = new Map<Hex, Map<string, number>>();
  /** The bytes that jobs take or are going to take. */
  #reserved: ReadonlyMap<Hex, number> = new Map();
  /** Bytes that are being written, beyond those of the files that they replace. */
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

  /** What is kept of a job's run. */
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

  /** Whether so many bytes fit where nothing else is kept. */
  canHold(bytes: number): boolean {
    return this.#folder === undefined || bytes <= this.#maxBytes;
  }

  /** Why there is no room for `bytes` more, beside what is reserved. @returns undefined if there is. */
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

  /** Releases the memory of a job's run, but for its roots, unless what could not be written yet is at stake. */
  release(id: Hex): void {
    if (this.#folder === undefined || !this.#reserved.has(id)) this.#runs.get(id)?.release();
  }

  /** Deletes what is kept of a job's run, also where it is kept besides: it may be wrong. */
  delete(id: Hex): void {
    this.#runs.delete(id);
    const [wasShared, hadFiles] = [this.#shared.delete(id), this.#files.delete(id)];
    if (wasShared || hadFiles) this.#share?.delete(id);
    if (hadFiles) rmSync(join(this.#folder!, id), { recursive: true, force: true });
  }

  /** Deletes what is kept of jobs that are gone. @param known The others. */
  forget(known: ReadonlyMap<Hex, unknown>): void {
    for (const id of [...this.#runs.keys(), ...this.#files.keys()]) if (!known.has(id)) this.delete(id);
  }

  /** Writes what is in memory for lack of room on disk, as far as there is room by now. */
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

  /** What is reserved and not written yet. @param but A job whose part of it does not count. */
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

  /** The entries of a folder; none of what is no folder or is gone. */
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
