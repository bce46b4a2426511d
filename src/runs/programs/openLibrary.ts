import { join } from "node:path";
import type { Logger } from "../../base/log.ts";
import { ProgramLibrary } from "../programLibrary.ts";
import { CatalogueModels, type CatalogueOptions } from "./catalogueModels.ts";
import { Compilations, type CompilationsOptions } from "./compilations.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { OwnModels } from "./ownModels.ts";

type LibraryOptions = {
  specs: readonly ModelSpec[];
  /** The folder of caches. */
  cache: string;
  catalogue?: CatalogueOptions | undefined;
  log: Logger;
  /** Ends what is fetched and compiled. */
  signal: AbortSignal;
  /** `compileApart`, but in tests. */
  compile?: CompilationsOptions["compile"];
};

/** A library that fills itself while a role runs. */
export type OpenLibrary = {
  library: ProgramLibrary;
  /** Resolves when all own models that are in the cache are known. */
  cached: Promise<void>;
  /** Resolves when nothing is left of it; the signal must have been given. */
  close: () => Promise<void>;
};

/**
 * Opens a library with the operator's models and, if named, a catalogue's models.
 * @throws CatalogueError, FetchRefusedError for an unusable catalogue
 */
export async function openLibrary({
  specs,
  cache,
  catalogue,
  log,
  signal,
  compile,
}: LibraryOptions): Promise<OpenLibrary> {
  const library = new ProgramLibrary();
  const shared = { library, folder: join(cache, "programs"), log, signal, ...(compile && { compile }) };
  const compilations = new Compilations(shared);
  const ofCatalogue = catalogue && new CatalogueModels(catalogue, compilations, shared);
  await ofCatalogue?.start();
  const cached = new OwnModels(specs, compilations, shared).start();
  const close = async (): Promise<void> => {
    await cached;
    await ofCatalogue?.settled();
    await compilations.close();
  };
  return { library, cached, close };
}
