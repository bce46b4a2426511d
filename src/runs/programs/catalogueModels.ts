import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Hash } from "../../program/merkle/hash.ts";
import { withoutPaths } from "../../base/redact.ts";
import { FetchRefusedError } from "../../base/fetchErrors.ts";
import { CatalogueError } from "../errors.ts";
import type { ProgramSource } from "../programLibrary.ts";
import { isLocalCatalogue, readCatalogue, type CatalogueModel } from "./catalogue.ts";
import type { Compilations, CompilationsOptions } from "./compilations.ts";
import { fetchModel } from "./fetchModel.ts";

/** Limits for compiling somebody else's model. The largest measured compilation takes 15 s and 2 GiB. */
const CATALOGUE_LIMITS = { seconds: 600, maxBytes: 2 ** 32 };

/** How often the catalogue is read again, while programs are wanted that are not known. */
const READ_EVERY_MS = 60_000;

/** Maximum tries after temporary failures. The pause doubles each time. */
const MAX_TRIES = 4;
const RETRY_MS = 30_000;
const FETCHED = "fetched-";

/** An older folder comes from an ended process. */
const LEFT_BEHIND_MS = 86_400_000;

export type CatalogueOptions = {
  /** A path, or a URL. */
  source: string;
  /** Licences of models that are taken; all if absent. */
  licences?: readonly string[] | undefined;
  /** Maximum total bytes of fetched models during the process. */
  fetchBytes: number;
  /** The clock, milliseconds. */
  now?: () => number;
};

/** The record of a model without a resulting program. */
type Failure = { tries: number; notBefore: number; refused: boolean };

/**
 * Models of a catalogue, for needed and unknown programs. The models are fetched and compiled one at a time, after all
 * the operator's own models. A refused model is not fetched again, unless its catalogue entry changes. Fetched files
 * are deleted after compilation.
 */
export class CatalogueModels implements ProgramSource {
  readonly #options: CatalogueOptions;
  readonly #compilations: Compilations;
  readonly #shared: CompilationsOptions;
  readonly #fetch: typeof fetchModel;
  readonly #now: () => number;
  #models = new Map<Hash, CatalogueModel>();
  /** By what the catalogue says of the model. */
  readonly #failures = new Map<string, Failure>();
  #readAt = -Infinity;
  #left: number;
  #busy: Promise<void> | undefined;

  constructor(options: CatalogueOptions, compilations: Compilations, shared: CompilationsOptions, fetch = fetchModel) {
    this.#options = options;
    this.#compilations = compilations;
    this.#shared = shared;
    this.#fetch = fetch;
    this.#now = options.now ?? Date.now;
    this.#left = options.fetchBytes;
    shared.library.addSource(this);
  }

  /** Whether a program is in the catalogue, and was not refused. */
  awaits = (root: Hash): boolean => {
    const model = this.#models.get(root);
    return model !== undefined && this.#failures.get(identityOf(model))?.refused !== true;
  };

  get content(): readonly string[] {
    return [...this.#models.keys()];
  }

  /**
   * Reads the catalogue for the first time.
   * @throws CatalogueError for a malformed catalogue. An unreachable catalogue is read again later.
   */
  async start(): Promise<void> {
    await this.#removeLeftBehind();
    await this.#read((error) => {
      if (error instanceof CatalogueError || error instanceof FetchRefusedError) throw error;
    });
  }

  /** Fetches and compiles the first available program in the list, unless another program is in progress. */
  want = (roots: readonly Hash[]): void => {
    if (this.#busy !== undefined || this.#shared.signal.aborted) return;
    this.#busy = this.#have(roots).finally(() => (this.#busy = undefined));
  };

  /** Resolves when nothing is fetched or compiled. */
  async settled(): Promise<void> {
    await this.#busy;
  }

  async #have(roots: readonly Hash[]): Promise<void> {
    if (this.#now() >= this.#readAt + READ_EVERY_MS) await this.#read();
    const isDue = (root: Hash): boolean =>
      this.awaits(root) && (this.#failures.get(identityOf(this.#models.get(root)!))?.notBefore ?? 0) <= this.#now();
    const root = roots.find(isDue);
    if (root === undefined) return;
    const model = this.#models.get(root)!;
    try {
      await this.#make(model);
      this.#failures.delete(identityOf(model));
    } catch (error) {
      this.#takeFailure(model, error);
    }
  }

  async #make(model: CatalogueModel): Promise<void> {
    const { root, sha256, bytes } = model;
    const onLost = () => this.#shared.log.warn({ root }, "the model is fetched again when it is needed");
    const wanted = { expectedRoot: root, sha256, onLost };
    if ((await this.#compilations.lookUp({ ...wanted, spec: model.specAt("") })) !== undefined) return;
    if (bytes > this.#left)
      throw new FetchRefusedError(`it has ${bytes} bytes, and ${this.#left} more may be fetched until a restart`);
    this.#left -= bytes;
    const { folder, log, signal } = this.#shared;
    await mkdir(folder, { recursive: true });
    const own = await mkdtemp(join(folder, FETCHED));
    try {
      log.info({ root, uri: withoutPaths(model.uri), bytes, licence: model.licence }, "fetching a model");
      const path = join(own, "model.onnx");
      await this.#fetch(model, path, { allowFile: isLocalCatalogue(this.#options.source), signal });
      const spec = model.specAt(path);
      const answer = await this.#compilations.compile({ ...wanted, spec }, CATALOGUE_LIMITS, false);
      if (answer.kind === "refused") throw new FetchRefusedError(answer.reason);
      if (answer.kind === "other root")
        throw new FetchRefusedError(`it compiles to the root ${answer.root}, not to that of the catalogue`);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }

  #takeFailure(model: CatalogueModel, error: unknown): void {
    const { log, signal } = this.#shared;
    if (signal.aborted) return;
    const { message, retryable = false } = error as Error & { retryable?: boolean };
    const tries = (this.#failures.get(identityOf(model))?.tries ?? 0) + 1;
    const refused = !retryable || tries >= MAX_TRIES;
    const notBefore = this.#now() + RETRY_MS * 2 ** (tries - 1);
    this.#failures.set(identityOf(model), { tries, notBefore, refused });
    const fields = { root: model.root, uri: withoutPaths(model.uri), reason: withoutPaths(message) };
    if (refused) log.error(fields, "a model of the catalogue is refused, and not tried again");
    else log.warn(fields, "a model of the catalogue cannot be fetched now, trying again later");
  }

  /** Reads the catalogue anew. If reading fails, the known models stay. */
  async #read(onError?: (error: unknown) => void): Promise<void> {
    const { source, licences } = this.#options;
    const { library, log, signal } = this.#shared;
    this.#readAt = this.#now();
    try {
      const all = await readCatalogue(source, signal);
      const models = all.filter(({ licence }) => licences === undefined || licences.includes(licence));
      if (models.length !== this.#models.size)
        log.info({ models: models.length, otherLicence: all.length - models.length }, "catalogue of models read");
      this.#models = new Map(models.map((model) => [model.root, model]));
      // There are never more failures than models.
      const named = new Set(models.map(identityOf));
      for (const key of this.#failures.keys()) if (!named.has(key)) this.#failures.delete(key);
      library.setProblem("catalogue", undefined);
    } catch (error) {
      onError?.(error);
      const reason = withoutPaths((error as Error).message);
      library.setProblem("catalogue", reason);
      log.warn({ reason }, "the catalogue of models cannot be read");
    }
  }

  async #removeLeftBehind(): Promise<void> {
    const { folder } = this.#shared;
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const found = name.startsWith(FETCHED) ? await stat(path).catch(() => undefined) : undefined;
      if (found !== undefined && Date.now() - found.mtimeMs > LEFT_BEHIND_MS)
        await rm(path, { recursive: true, force: true });
    }
  }
}

/** Returns all catalogue-entry fields that determine the model's treatment. */
const identityOf = ({ root, uri, sha256, bytes, specAt }: CatalogueModel): string =>
  JSON.stringify([root, uri, sha256, bytes, specAt("")], (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
