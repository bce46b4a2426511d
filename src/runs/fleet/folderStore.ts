import { lstat, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../../base/writeWhole.ts";
import { FOLDERS, isName, requireName, type BlobStore } from "./blobStore.ts";
import { StoreCorruptError, StoreError, StoreFullError } from "./errors.ts";

/** The file name ending during writing. */
const UNFINISHED = ".part";
/** Error codes of the operating system for a full disk, an exhausted quota or a file size limit. */
const FULL = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** A store in a folder, which the machines of a fleet share (NFS, say). */
export class FolderStore implements BlobStore {
  readonly name: string;
  readonly #folder: string;

  constructor(folder: string) {
    [this.#folder, this.name] = [folder, `the folder ${folder}`];
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(name);
    await writeWhole(path, UNFINISHED, (unfinished) => writeFile(unfinished, bytes)).catch((error: unknown) => {
      throw this.#failed(error, "written");
    });
  }

  async get(name: string, maxBytes: number, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    const path = this.#path(name);
    try {
      const file = await open(path);
      try {
        const { size } = await file.stat();
        if (size > maxBytes) throw new StoreCorruptError(`${name} in ${this.name} is larger than it can be`);
        return new Uint8Array(await file.readFile({ signal }));
      } finally {
        await file.close();
      }
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error instanceof StoreCorruptError ? error : this.#failed(error, "read");
    }
  }

  async has(name: string): Promise<boolean> {
    try {
      return (await stat(this.#path(name))).isFile();
    } catch (error) {
      if (isMissing(error)) return false;
      throw this.#failed(error, "read");
    }
  }

  async delete(name: string): Promise<void> {
    await rm(this.#path(name), { force: true }).catch((error: unknown) => {
      throw this.#failed(error, "written");
    });
  }

  /**
   * Deletes stored files older than the given age, and killed processes' unfinished files. Other files are ignored: the
   * folder may contain them.
   * @returns The number of deleted files.
   */
  async prune(ageMs: number): Promise<number> {
    let deleted = 0;
    for (const part of FOLDERS) {
      const names = await readdir(join(this.#folder, part), { recursive: true }).catch(() => [] as string[]);
      for (const name of names.map((below) => `${part}/${below}`)) {
        const isOwn = isName(name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name);
        const path = join(this.#folder, name);
        // Another process may have deleted it.
        const file = isOwn ? await lstat(path).catch(() => undefined) : undefined;
        if (file?.isFile() !== true || Date.now() - file.mtimeMs < ageMs) continue;
        await rm(path, { force: true });
        deleted++;
      }
    }
    return deleted;
  }

  /** @throws StoreError */
  #path(name: string): string {
    return join(this.#folder, requireName(name));
  }

  #failed(cause: unknown, what: string): Error {
    const { code = "unknown" } = cause as NodeJS.ErrnoException;
    if (FULL.has(code)) return new StoreFullError(`${this.name} has no room (${code}): free some`, { cause });
    return new StoreError(`${this.name} cannot be ${what} (${code}): check that it is there, and its owner`, { cause });
  }
}

const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
