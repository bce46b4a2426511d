import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { writeWhole } from "../base/writeWhole.ts";

/** The cache's format number: raised with each format change. */
const FORMAT = 2;
const DIGEST_BYTES = 32;
/** After this time, an unfinished file counts as left by a killed process. */
const ABANDONED_MS = 3_600_000;

/** The identification of a cache. */
export type LogCacheOptions = {
  /** Folder of the file. It is made if it is missing. */
  folder: string;
  /** Whose cache it is. There is one file for each. */
  owner: readonly string[];
  /** On what its contents depend besides: a file with other words is not used. */
  content: readonly string[];
  /** Called once if the file is damaged, and once if it cannot be written. */
  warn: (reason: string) => void;
};

/**
 * A cache file that saves a restart from reading the chain again. Nothing depends on the file: a faulty file counts as
 * absent.
 *
 * The file contains a SHA-256 and the hashed data: the owner, the content, and a state serialised by `node:v8`. The
 * cache writes a temporary file and then renames it. Readers therefore find either the old file or the new file, and
 * two processes of one owner do not disturb each other: the last writer wins. A partial file, for example after a loss
 * of power, has another SHA-256.
 *
 * The cache has no protection against anyone who may write into the folder, just as nothing protects against anyone who
 * may change the program.
 */
export class LogCache<T> {
  readonly #options: LogCacheOptions;
  readonly #name: string;
  readonly #key: string;
  #hasWarned = false;

  constructor(options: LogCacheOptions) {
    this.#options = options;
    this.#name = `events-${sha256(JSON.stringify(options.owner)).toString("hex").slice(0, 32)}`;
    this.#key = JSON.stringify([FORMAT, options.owner, options.content]);
  }

  /** Returns the last saved state; undefined without a usable file. */
  async load(): Promise<T | undefined> {
    const { folder, warn } = this.#options;
    await this.#sweep();
    const file = await readFile(this.#path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#warnOnce(error);
      return undefined;
    });
    if (file === undefined) return undefined;
    const body = file.subarray(DIGEST_BYTES);
    try {
      if (!sha256(body).equals(file.subarray(0, DIGEST_BYTES))) throw new Error("it is damaged");
      const { key, state } = deserialize(body) as { key: string; state: T };
      return key === this.#key ? state : undefined;
    } catch (error) {
      warn(`the cache ${this.#name} in ${folder} is not used: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Saves a state. A failure is no error. */
  async save(state: T): Promise<void> {
    try {
      // This fails too, with more than can be serialised.
      const body = serialize({ key: this.#key, state });
      const file = Buffer.concat([sha256(body), body]);
      await writeWhole(this.#path, ".tmp", (unfinished) => writeFile(unfinished, file, { mode: 0o600 }), 0o700);
    } catch (error) {
      this.#warnOnce(error);
    }
  }

  get #path(): string {
    return join(this.#options.folder, this.#name);
  }

  /** Removes what killed processes left half-written. */
  async #sweep(): Promise<void> {
    const { folder } = this.#options;
    const names = await readdir(folder).catch(() => []);
    for (const name of names) {
      if (!name.startsWith(`${this.#name}.`) || !name.endsWith(".tmp")) continue;
      const path = join(folder, name);
      const age = await stat(path).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > ABANDONED_MS) await rm(path, { force: true }).catch(() => undefined);
    }
  }

  #warnOnce(error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.warn(`the cache cannot be used, every start reads the chain again: ${(error as Error).message}`);
  }
}

const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();
