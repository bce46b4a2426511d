import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorWithCode } from "../../base/errors.ts";
import { writeWhole } from "../../base/writeWhole.ts";

/** No room for a job's inputs remains beside the inputs that must be kept. */
class NoRoomError extends errorWithCode("NO_ROOM_FOR_INPUTS", { retryable: true }) {}

const FILE = /^([0-9a-f]{32})\.inputs$/;
const MIB = 2 ** 20;

/**
 * Files with jobs' inputs, by key, in a folder of limited size; in memory without a folder. Files are not trusted:
 * every reader checks a file against its job.
 */
export class InputStore {
  readonly #folder: string | undefined;
  readonly #maxBytes: number;
  /** The bytes of each file, the oldest first. */
  readonly #sizes = new Map<string, number>();
  readonly #memory = new Map<string, Uint8Array>();
  /** Bytes that are being written. */
  #writing = 0;

  /** @param folder A folder used by nobody else: all files except input files are removed. */
  constructor(folder: string | undefined, maxBytes: number) {
    [this.#folder, this.#maxBytes] = [folder, maxBytes];
    if (folder === undefined) return;
    const found = namesIn(folder).map((name) => ({ key: FILE.exec(name)?.[1], file: join(folder, name) }));
    for (const { file } of found.filter(({ key }) => key === undefined)) rmSync(file, { recursive: true, force: true });
    const files = found.flatMap(({ key, file }) => (key === undefined ? [] : [{ key, stats: statSync(file) }]));
    files.sort((a, b) => a.stats.mtimeMs - b.stats.mtimeMs);
    for (const { key, stats } of files) this.#sizes.set(key, stats.size);
  }

  /** Whether a file is kept. */
  has(key: string): boolean {
    return this.#sizes.has(key);
  }

  /** Returns whether so many additional bytes leave half of the room free, without deleting other files. */
  isHalfFree(bytes: number): boolean {
    const taken = this.#writing + [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
    return 2 * (taken + bytes) <= this.#maxBytes;
  }

  /** Reads a file, possibly changed since it was written. @returns undefined for a missing file */
  read(key: string): Uint8Array | undefined {
    if (!this.#sizes.has(key)) return undefined;
    if (this.#folder === undefined) return this.#memory.get(key);
    try {
      return readFileSync(this.#path(key));
    } catch {
      // A file with any fault is fetched again.
      this.delete(key);
      return undefined;
    }
  }

  /**
   * Keeps a file. The oldest files that may go make room.
   * @param mayGo Returns whether the file of a key may go.
   * @throws NoRoomError, and the disk's errors
   */
  async write(key: string, bytes: Uint8Array, mayGo: (key: string) => boolean): Promise<void> {
    this.delete(key);
    let taken = this.#writing + [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
    for (const [other, size] of this.#sizes) {
      if (taken + bytes.length <= this.#maxBytes) break;
      if (!mayGo(other)) continue;
      this.delete(other);
      taken -= size;
    }
    if (taken + bytes.length > this.#maxBytes) {
      const [needs, has, max] = [bytes.length, taken, this.#maxBytes].map((each) => Math.ceil(each / MIB));
      throw new NoRoomError(`its inputs take ${needs} MiB, beside ${has} MiB that are needed, and ${max} may be kept`);
    }
    this.#writing += bytes.length;
    try {
      if (this.#folder === undefined) this.#memory.set(key, bytes);
      else await writeWhole(this.#path(key), ".part", (unfinished) => writeFile(unfinished, bytes));
      this.#sizes.set(key, bytes.length);
    } finally {
      this.#writing -= bytes.length;
    }
  }

  /** Removes a file. */
  delete(key: string): void {
    if (!this.#sizes.delete(key)) return;
    this.#memory.delete(key);
    if (this.#folder !== undefined) rmSync(this.#path(key), { force: true });
  }

  #path(key: string): string {
    return join(this.#folder!, `${key}.inputs`);
  }
}

/** Lists a folder. If reading fails, a later write will report why. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
