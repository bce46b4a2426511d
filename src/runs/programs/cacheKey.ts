import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DEFAULT_STEP_BYTES } from "../../program/limits.ts";
import { SEMANTICS_VERSION } from "../../program/encode.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";

/** The rooms whose code determines a model's program. */
export const COMPILER_ROOMS = ["base", "numerics", "program", "model", "compiler"] as const;

let version: string | undefined;

/**
 * Returns a hash over the compiler's own code, because two states of the code may have the same release number. For
 * code packed into one file, the hash covers the file.
 * @param root The folder with the rooms.
 */
export function compilerVersion(root: URL): string {
  const hash = createHash("sha256");
  const folders = COMPILER_ROOMS.map((name) => fileURLToPath(new URL(`${name}/`, root)));
  const paths = folders.every((folder) => existsSync(folder))
    ? folders.flatMap((folder) => {
        const names = readdirSync(folder, { recursive: true }) as string[];
        return names.sort().map((name) => folder + name);
      })
    : [fileURLToPath(import.meta.url)];
  for (const path of paths) if (/\.[mc]?[jt]s$/.test(path)) hash.update(readFileSync(path));
  return hash.digest("hex");
}

/** SHA-256 of a file, in hexadecimal digits. The event loop runs meanwhile. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(piece as Buffer);
  return hash.digest("hex");
}

/**
 * Returns the cache name of a model's compilation: a hash over the model's file, all compile options, and the compiler.
 * Files of external data are not included: only the compiler learns their names. The cached file lists them with their
 * hashes.
 * @param sha256 The model file's hash, if known.
 */
export async function cacheKey(spec: ModelSpec, sha256?: string): Promise<string> {
  const bound = await Promise.all(
    Object.entries(spec.bind).map(async ([name, value]) =>
      typeof value === "string"
        ? [name, "file", ...(await Promise.all(boundFiles(name, value).map((path) => sha256OfFile(path))))]
        : [name, "value", value],
    ),
  );
  const described = {
    compiler: (version ??= compilerVersion(new URL("../../", import.meta.url))),
    semantics: SEMANTICS_VERSION,
    model: sha256 ?? (await sha256OfFile(spec.path)),
    shapes: Object.entries(spec.shapes).sort(byName),
    dims: spec.dims && Object.entries(spec.dims).sort(byName),
    bound: bound.sort(byName),
    lengths: spec.lengths && Object.entries(spec.lengths).sort(byName),
    uint8: spec.uint8,
    decide: spec.decide && Object.entries(spec.decide).sort(byName),
    drawn: spec.drawn && Object.entries(spec.drawn).sort(byName),
    noise: spec.noise && Object.entries(spec.noise).sort(byName),
    train: spec.train,
    run: spec.run,
    decoder: spec.decoder,
    stepBytes: spec.stepByteLimit ?? DEFAULT_STEP_BYTES,
    seed: spec.seed === undefined ? undefined : String(spec.seed),
    seedInput: spec.seedInput,
  };
  return createHash("sha256").update(JSON.stringify(described)).digest("hex");
}

/**
 * The files that a binding may mean: `NAME=FILE` was split before the model's names were known, and both parts may have
 * equals signs.
 */
function boundFiles(name: string, file: string): string[] {
  const parts = `${name}=${file}`.split("=");
  const found = parts.map((_, k) => parts.slice(k).join("=")).filter((path) => existsSync(path));
  return found.length === 0 ? [file] : found;
}

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);
