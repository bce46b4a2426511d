import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorWithCode } from "../../base/errors.ts";
import { writeWhole } from "../../base/writeWhole.ts";

/** There is no room for a job's inputs beside those that must be kept. */
class NoRoomError extends errorWithCode("NO_ROOM_FOR_INPUTS", { retryable: true }) {}

const FILE = /^([0-9a-f]{32})\.inputs$/;
const MIB = 2 ** 20;

/**
 * Files of jobs' inputs, by key, in a folder of bounded size; in memory without a folder. Nothing is believed of a
 * file: whoever reads one checks it against its job.
 */
export class InputStore {
  readonly #folder: string | undefined;
  readonly #maxBytes: number;
  /** The bytes of each file, the oldest first. */
  readonly #sizes = new Map<string, number>();
  readonly #memory = new Map<string, Uint8Array>();
  /** Bytes that are being written. */
  #writing = 0;

  /** @param folder Of nobody else's: whatever in it is no file of inputs is removed. */
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

  /** Whether so many bytes more leave half of the room free, where nothing makes room for them. */
  isHalfFree(bytes: number): boolean {
    const taken = this.#writing + [...this.#sizes.values()].reduce((sum, size) => sum + size, 0);
    return 2 * (taken + bytes) <= this.#maxBytes;
  }

  /** A file as it was written, or as something has changed it since. @returns undefined if it is not there */
  read(key: string): Uint8Array | undefined {
    if (!this.#sizes.has(key)) return undefined;
    if (this.#folder === undefined) return this.#memory.get(key);
    try {
      return readFileSync(this.#path(key));
    } catch {
      // Whatever is wrong with it, it is fetched again.
      this.delete(key);
      return undefined;
    }
  }

  /**
   * Keeps a file. The oldest ones that may go make room for it.
   * @param mayGo Says of a key whether its file may.
   * @throws NoRoomError, and as the disk fails
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

/** What is in a folder. Where nothing can be read, writing will say why. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
