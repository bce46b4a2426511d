import type { Hash } from "../program/merkle/hash.ts";
import { programShape, type KnownProgram, type ProgramShape } from "../dispute/run/execution.ts";
import type { ModelSpec } from "../compiler/wraps/modelSpec.ts";

/** A known program, with a function to load the program into memory. */
type LibraryEntry = {
  root: Hash;
  shape: ProgramShape;
  /** @throws ProgramUnavailableError if the entry was removed and the program is therefore unknown */
  load: () => Promise<KnownProgram>;
  /** The local model from which the program was compiled. */
  spec?: ModelSpec;
};

/** Where programs come from while a role runs. */
export type ProgramSource = {
  /** Whether a program that is not known may become known without anybody changing anything. */
  awaits: (root: Hash) => boolean;
  /** Receives the needed unknown programs, the most wanted first. */
  want?: (roots: readonly Hash[]) => void;
  /** The models or programs that the source can provide, known at the start. */
  content: readonly string[];
  /** The models that the source provides by itself, and has not provided yet. */
  pending?: readonly string[];
};

/**
 * The programs that a worker or a watcher knows now, by root. More programs may become known during operation. Only
 * roots and shapes are in memory from the start: a program is loaded at its first execution.
 */
export class ProgramLibrary {
  readonly #entries = new Map<Hash, LibraryEntry>();
  readonly #loaded = new Map<Hash, Promise<KnownProgram>>();
  readonly #sources: ProgramSource[] = [];
  readonly #problems = new Map<string, string>();

  /** A library of programs that are in memory. */
  static of(programs: readonly KnownProgram[]): ProgramLibrary {
    const library = new ProgramLibrary();
    for (const program of programs) {
      const load = () => Promise.resolve(program);
      library.add({ root: program.model.programRoot, shape: programShape(program), load });
    }
    return library;
  }

  /** How many programs are known. */
  get size(): number {
    return this.#entries.size;
  }

  /** The programs that are known. */
  get roots(): readonly Hash[] {
    return [...this.#entries.keys()];
  }

  /** Models that are asked for and cannot be used, each with the reason. */
  get problems(): readonly string[] {
    return [...this.#problems].map(([model, reason]) => `${model}: ${reason}`);
  }

  /** Models in compilation, or waiting for compilation. */
  get pending(): readonly string[] {
    return this.#sources.flatMap(({ pending }) => pending ?? []).map((model) => `${model} is not compiled yet`);
  }

  /** The configured programs or sources, in any order: equal from one start to the next. */
  get content(): readonly string[] {
    const content = this.#sources.length === 0 ? [...this.#entries.keys()] : this.#sources.flatMap((s) => s.content);
    return content.sort();
  }

  /** Makes a program known. */
  add(entry: LibraryEntry): void {
    this.#entries.set(entry.root, entry);
  }

  /** Makes a program unknown, until somebody adds it again. */
  remove(root: Hash): void {
    this.#entries.delete(root);
    this.#loaded.delete(root);
  }

  addSource(source: ProgramSource): void {
    this.#sources.push(source);
  }

  /** Sets or, without a reason, clears a model's problem. */
  setProblem(model: string, reason: string | undefined): void {
    if (reason === undefined) this.#problems.delete(model);
    else this.#problems.set(model, reason);
  }

  /** Whether a program is known. */
  knows(root: Hash): boolean {
    return this.#entries.has(root);
  }

  /** Returns the properties that follow from a program's size. @returns undefined for an unknown program */
  shapeOf(root: Hash): ProgramShape | undefined {
    return this.#entries.get(root)?.shape;
  }

  /** Returns a program's model. @returns undefined for an unknown program, or a model not on this machine */
  specOf(root: Hash): ModelSpec | undefined {
    return this.#entries.get(root)?.spec;
  }

  /** Returns each known program's shape, from which jobs are judged. */
  get shapes(): readonly ProgramShape[] {
    return [...this.#entries.values()].map(({ shape }) => shape);
  }

  /** Whether a program is not known, but may become known soon. */
  awaits(root: Hash): boolean {
    return !this.knows(root) && this.#sources.some((source) => source.awaits(root));
  }

  /** Tells the sources which unknown programs are needed, the most wanted first. */
  want(roots: readonly Hash[]): void {
    const unknown = [...new Set(roots)].filter((root) => !this.knows(root));
    if (unknown.length > 0) for (const source of this.#sources) source.want?.(unknown);
  }

  /**
   * A program, loaded if it was not needed before.
   * @returns undefined if it is not known.
   * @throws ProgramUnavailableError
   */
  async load(root: Hash): Promise<KnownProgram | undefined> {
    const entry = this.#entries.get(root);
    if (entry === undefined) return undefined;
    let loaded = this.#loaded.get(root);
    if (loaded === undefined) {
      loaded = entry.load();
      this.#loaded.set(root, loaded);
      loaded.catch(() => this.#loaded.delete(root));
    }
    return loaded;
  }
}
