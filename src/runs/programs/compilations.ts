import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Hash } from "../../program/merkle/hash.ts";
import { ProgramUnavailableError } from "../errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ProgramLibrary } from "../programLibrary.ts";
import { cacheKey } from "./cacheKey.ts";
import { compileApart, type ProcessLimits } from "./compileApart.ts";
import type { CompileAnswer } from "./compileJob.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { ProgramCache, type Cached } from "./programCache.ts";

export type CompilationsOptions = {
  /** Where compiled programs become known. */
  library: ProgramLibrary;
  /** The folder of the cache. */
  folder: string;
  log: Logger;
  /** Ends what is compiled. */
  signal: AbortSignal;
  /** {@link compileApart}, but in tests. */
  compile?: typeof compileApart;
};

/** A model to be made known. */
type Wanted = {
  spec: ModelSpec;
  /** The root that its program must have; any if absent. */
  expectedRoot?: Hash;
  /** The model file's SHA-256, if the file is elsewhere. Such a model has no external data. */
  sha256?: string;
  /** Called once if its compilation was known and cannot be read any more. */
  onLost: () => void;
};

/**
 * Turns models into programs of the library. Cached programs come from the cache. Other models are compiled one after
 * the other, in a process apart from the loop that plays games. If the cache is not writable, programs are kept in a
 * temporary folder while this process runs.
 */
export class Compilations {
  readonly #options: CompilationsOptions;
  readonly #compile: typeof compileApart;
  readonly #cache: ProgramCache;
  readonly #temporary = join(tmpdir(), `refute-${randomBytes(8).toString("hex")}`);
  readonly #queues: Record<"urgent" | "others", (() => Promise<void>)[]> = { urgent: [], others: [] };
  #isWorking = false;
  #hasWarned = false;

  constructor(options: CompilationsOptions) {
    this.#options = options;
    this.#compile = options.compile ?? compileApart;
    this.#cache = new ProgramCache(options.folder);
  }

  /**
   * Makes a model's program known if the cache contains it.
   * @returns The program's root; undefined if the cache lacks the program.
   * @throws Error if the model's file, or a file bound to an input, cannot be read
   */
  async lookUp(wanted: Wanted): Promise<Hash | undefined> {
    const { spec, sha256, expectedRoot } = wanted;
    const key = await cacheKey(spec, sha256);
    const folder = sha256 === undefined ? dirname(resolve(spec.path)) : undefined;
    const cached = await this.#cache.find(key, folder);
    if (cached === undefined || (expectedRoot ?? cached.head.root) !== cached.head.root) return undefined;
    this.#add(wanted, cached);
    return cached.head.root;
  }

  /**
   * Compiles a model, and makes its program known.
   * @param isUrgent Whether the model goes before models that are not urgent.
   * @throws CompileProcessError
   */
  compile(wanted: Wanted, limits: ProcessLimits, isUrgent: boolean): Promise<CompileAnswer> {
    return new Promise((resolve, reject) => {
      const task = () => this.#compileNow(wanted, limits).then(resolve, reject);
      this.#queues[isUrgent ? "urgent" : "others"].push(task);
      void this.#work();
    });
  }

  /** Deletes what was stored for this process only. */
  async close(): Promise<void> {
    await rm(this.#temporary, { recursive: true, force: true });
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    const { urgent, others } = this.#queues;
    const take = () => urgent.shift() ?? others.shift();
    for (let next = take(); next !== undefined; next = take()) await next();
    this.#isWorking = false;
  }

  async #compileNow(wanted: Wanted, limits: ProcessLimits): Promise<CompileAnswer> {
    const { spec, expectedRoot } = wanted;
    const { folder, log, signal } = this.#options;
    log.info({ model: spec.path }, "compiling, beside the loop");
    const start = performance.now();
    const answer = await this.#compile({ spec, folders: [folder, this.#temporary], expectedRoot }, limits, signal);
    if (answer.kind !== "done") return answer;
    if (answer.unwritable !== undefined) this.#warn(`the cache ${folder} cannot be written to: ${answer.unwritable}`);
    this.#add(wanted, answer.cached);
    const milliseconds = Math.round(performance.now() - start);
    log.info({ model: spec.path, root: answer.cached.head.root, milliseconds }, "compiled");
    return answer;
  }

  #add({ onLost, spec, sha256 }: Wanted, { path, head: { root, shape } }: Cached): void {
    const { library } = this.#options;
    const load = async () => {
      try {
        const program = await this.#cache.load(path);
        if (program.model.programRoot === root) return program;
        throw new Error("it holds another program");
      } catch (cause) {
        const reason = `the cached program ${path} cannot be used (${(cause as Error).message}), compiling again`;
        this.#warn(reason);
        await this.#cache.drop(path);
        library.remove(root);
        onLost();
        throw new ProgramUnavailableError(reason, { cause });
      }
    };
    library.add({ root, shape, load, ...(sha256 === undefined && { spec }) });
  }

  /** The cache only saves time: what is wrong with it is said once. */
  #warn(reason: string): void {
    if (!this.#hasWarned) this.#options.log.warn({ reason }, "the cache of programs does not work");
    this.#hasWarned = true;
  }
}
