import { readdir, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { CompiledModel } from "../../program/compiled.ts";
import { writeWhole } from "../../base/writeWhole.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { sha256OfFile } from "./cacheKey.ts";
import { readProgram, readProgramHead, writeProgram, type ProgramHead } from "./programFile.ts";

const SUFFIX = ".program";
const UNFINISHED = ".unfinished";

/** After this time, an unfinished file belongs to an ended process. */
const UNFINISHED_MS = 86_400_000;

/** The most bytes of compilations: 8 GiB. */
const CACHE_BYTES = 2 ** 33;

/** A compilation in the cache: its file, and the data known without reading the whole file. */
export type Cached = { path: string; head: ProgramHead };

/**
 * Compilations on disk. Any number of processes may share the folder: files are written under another name, renamed
 * when complete, and never changed. The longest unused files are deleted first. The folder is trusted like the
 * program's own files (docs/security.md): checksums find damage, not malice.
 */
export class ProgramCache {
  readonly folder: string;
  readonly #maxBytes: number;

  /** @param folder Made when something is stored. */
  constructor(folder: string, maxBytes = CACHE_BYTES) {
    this.folder = folder;
    this.#maxBytes = maxBytes;
  }

  /**
   * Looks for a compilation. Files of external data must be unchanged.
   * @param key See `cacheKey`.
   * @param modelFolder The folder of the model's external data; undefined if the model must have none.
   */
  async find(key: string, modelFolder: string | undefined): Promise<Cached | undefined> {
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names.filter((name) => name.startsWith(key) && name.endsWith(SUFFIX))) {
      const path = join(this.folder, name);
      const head = await readProgramHead(path).catch(() => undefined);
      if (head !== undefined && (await isUnchanged(head, modelFolder))) return { path, head };
    }
    return undefined;
  }

  /** Reads a compilation, which counts as using it. @throws ProgramFileError, or why the file cannot be read */
  async load(path: string): Promise<KnownProgram> {
    const program = await readProgram(path);
    const now = new Date();
    // Where the time cannot be set, the order of deletion is worse, and nothing else.
    await utimes(path, now, now).catch(() => undefined);
    return program;
  }

  /** Deletes a compilation that cannot be read. */
  async drop(path: string): Promise<void> {
    await rm(path, { force: true }).catch(() => undefined);
  }

  /**
   * Stores a compilation, and deletes others if the cache has too many bytes.
   * @param files Paths of the external data files that the model was read from.
   * @throws Error if the folder is not writable
   */
  async store(key: string, model: CompiledModel, modelPath: string, files: readonly string[]): Promise<Cached> {
    const folder = dirname(resolve(modelPath));
    const listed = await Promise.all(
      [...new Set(files)].sort().map(async (file) => {
        return { path: relative(folder, resolve(file)), sha256: await sha256OfFile(file) };
      }),
    );
    // One model file may have copies beside different external data in different folders.
    const path = join(this.folder, `${key}-${model.programRoot.slice(2, 18)}${SUFFIX}`);
    await writeWhole(path, UNFINISHED, (unfinished) => writeProgram(unfinished, model, listed));
    await this.#prune(path);
    return { path, head: await readProgramHead(path) };
  }

  async #prune(newest: string): Promise<void> {
    const now = Date.now();
    const files: { path: string; size: number; used: number }[] = [];
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) continue;
      if (name.endsWith(UNFINISHED) && now - found.mtimeMs > UNFINISHED_MS) await this.drop(path);
      if (name.endsWith(SUFFIX)) files.push({ path, size: found.size, used: found.mtimeMs });
    }
    let excess = files.reduce((sum, { size }) => sum + size, 0) - this.#maxBytes;
    for (const { path, size } of files.sort((a, b) => a.used - b.used)) {
      if (excess <= 0) return;
      if (path === newest) continue;
      await this.drop(path);
      excess -= size;
    }
  }
}

async function isUnchanged({ files }: ProgramHead, modelFolder: string | undefined): Promise<boolean> {
  if (modelFolder === undefined) return files.length === 0;
  for (const { path, sha256 } of files) {
    if ((await sha256OfFile(join(modelFolder, path)).catch(() => undefined)) !== sha256) return false;
  }
  return true;
}
