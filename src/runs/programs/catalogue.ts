import { readFile, stat } from "node:fs/promises";
import { z } from "zod/v4";
import { refusalText } from "../../base/regularFile.ts";
import type { Hash } from "../../program/merkle/hash.ts";
import { CatalogueError } from "../errors.ts";
import { compileOptions, modelSpecOf } from "./compileOptions.ts";
import { fetchText } from "./fetchModel.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";

/** More than a catalogue of the most models needs. */
const MAX_BYTES = 2 ** 22;
const MAX_MODELS = 1_000;

/** A model that may be fetched. */
export type CatalogueModel = {
  root: Hash;
  uri: string;
  sha256: string;
  bytes: number;
  licence: string;
  /** Returns the compile options for a file at a path. */
  specAt: (path: string) => ModelSpec;
};

const modelSchema = z
  .object({
    root: z.string().regex(/^0x[0-9a-f]{64}$/),
    uri: z.string().max(2_000),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    bytes: z.number().int().positive(),
    licence: z.string().min(1).max(100),
    options: z
      .object({
        ...compileOptions,
        // SAFETY: a text would name a file on this machine.
        bind: z
          .record(
            z.string(),
            z.unknown().refine((value) => typeof value !== "string", "must be a value, not a file"),
          )
          .default({}),
      })
      .strict()
      .prefault({}),
  })
  .strict();
const catalogueSchema = z.object({ models: z.array(modelSchema).max(MAX_MODELS) }).strict();

/** Whether a catalogue lies on this machine: only such a one may name files. */
export const isLocalCatalogue = (source: string): boolean => !/^https?:/i.test(source);

/**
 * Reads a catalogue: `{ models: [{ root, uri, sha256, bytes, licence, options }] }`.
 * @param source A path, or a URL that `openUrl` takes.
 * @throws CatalogueError; FetchError, FetchRefusedError if it does not come from a URL
 */
export async function readCatalogue(source: string, signal: AbortSignal): Promise<CatalogueModel[]> {
  const text = isLocalCatalogue(source) ? await readText(source) : await fetchText(source, MAX_BYTES, signal);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CatalogueError(`the catalogue ${source} is not JSON`, { cause });
  }
  const result = catalogueSchema.safeParse(json);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new CatalogueError(`the catalogue ${source}: ${issue!.path.join(".")}: ${issue!.message}`);
  }
  return result.data.models.map(({ root, options, ...model }) => ({
    ...model,
    root: root as Hash,
    specAt: (path) => modelSpecOf(path, options),
  }));
}

async function readText(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_BYTES)
      throw new CatalogueError(`the catalogue ${path} is no file of at most ${MAX_BYTES} bytes`);
    return await readFile(path, "utf8");
  } catch (cause) {
    if (cause instanceof CatalogueError) throw cause;
    throw new CatalogueError(`cannot read the catalogue ${path}: it ${refusalText(cause)}`, { cause });
  }
}
