import { statSync } from "node:fs";
import { totalmem } from "node:os";
import type { Logger } from "../../base/log.ts";
import type { ProgramLibrary, ProgramSource } from "../programLibrary.ts";
import type { Compilations, CompilationsOptions } from "./compilations.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";

/**
 * Limits for compiling an operator's model: far more than any measured model took. Only an endless compilation is given
 * up.
 */
const OWN_LIMITS = { seconds: 7_200, maxBytes: Math.max(2 ** 32, Math.floor(totalmem() / 2)) };

/** Writes the flags that an error names as keys of the models file: a role has no such flags. */
const inModelsFile = (reason: string): string =>
  reason
    .replace(/--shape (\S+)=([\d,]*\d)/g, '"shapes": { "$1": [$2] } in the models file')
    .replace(/--dim (\S+)=N/g, '"dims": { "$1": N }');

/** How often a program is compiled again because what was stored cannot be read. */
const MAX_LOSSES = 2;

/**
 * The models that the operator names. They are looked up in the cache, and missing models are compiled. A model that
 * fails to compile becomes a library problem; the other models go on.
 */
export class OwnModels implements ProgramSource {
  readonly #specs: readonly ModelSpec[];
  readonly #compilations: Compilations;
  readonly #library: ProgramLibrary;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  /** Models whose root is not known yet. */
  readonly #pending: Set<ModelSpec>;
  readonly #losses = new Map<ModelSpec, number>();

  constructor(specs: readonly ModelSpec[], compilations: Compilations, { library, log, signal }: CompilationsOptions) {
    this.#specs = specs;
    this.#compilations = compilations;
    this.#library = library;
    this.#log = log;
    this.#signal = signal;
    this.#pending = new Set(specs);
    library.addSource(this);
  }

  /** While a model's root is unknown, any program may belong to the model. */
  awaits = (): boolean => this.#pending.size > 0;

  get pending(): readonly string[] {
    return [...this.#pending].map((spec) => this.#nameOf(spec));
  }

  /** A changed file has another size or another time. */
  get content(): readonly string[] {
    return this.#specs.map((spec) => {
      const { size = 0, mtimeMs = 0 } = statSync(spec.path, { throwIfNoEntry: false }) ?? {};
      const text = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);
      return JSON.stringify({ ...spec, limits: undefined, size, mtimeMs }, text);
    });
  }

  /**
   * Makes the models known. @returns Resolves once the cached models are known; the other models are compiled
   * afterwards.
   */
  async start(): Promise<void> {
    const missing: ModelSpec[] = [];
    for (const spec of this.#specs) {
      if (this.#signal.aborted) return;
      const isKnown = await this.#attempt(spec, async () => {
        const root = await this.#compilations.lookUp({ spec, onLost: () => this.#onLost(spec) });
        if (root === undefined) missing.push(spec);
        return root !== undefined;
      });
      if (isKnown !== false) this.#pending.delete(spec);
    }
    for (const spec of missing) void this.#compile(spec);
  }

  #onLost(spec: ModelSpec): void {
    const losses = (this.#losses.get(spec) ?? 0) + 1;
    this.#losses.set(spec, losses);
    if (losses > MAX_LOSSES) return this.#fail(spec, "CACHE", "its compiled program cannot be read back");
    this.#pending.add(spec);
    void this.#compile(spec);
  }

  async #compile(spec: ModelSpec): Promise<void> {
    await this.#attempt(spec, async () => {
      const answer = await this.#compilations.compile({ spec, onLost: () => this.#onLost(spec) }, OWN_LIMITS, true);
      if (answer.kind === "refused") this.#fail(spec, answer.code, answer.reason);
      else this.#library.setProblem(this.#nameOf(spec), undefined);
    });
    this.#pending.delete(spec);
  }

  /** @returns undefined if the action failed. */
  async #attempt<T>(spec: ModelSpec, action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      const { message, code = "UNEXPECTED" } = error as Error & { code?: string };
      this.#fail(spec, code, message);
      return undefined;
    }
  }

  /** Two models may have one file and different options. */
  #nameOf(spec: ModelSpec): string {
    return `model ${this.#specs.indexOf(spec) + 1} (${spec.path})`;
  }

  #fail(spec: ModelSpec, code: string, reason: string): void {
    // A compilation given up at the process's end is no problem of the model.
    if (this.#signal.aborted) return;
    const why = inModelsFile(reason);
    this.#library.setProblem(this.#nameOf(spec), why);
    const others = this.#specs.length > 1 ? "the others are not touched" : "there is no other";
    this.#log.error({ model: spec.path, code, reason: why }, `model cannot be used; ${others}`);
  }
}
