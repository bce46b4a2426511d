import { createRequire, findPackageJSON } from "node:module";
import { errorWithCode } from "./errors.ts";

/** A package that only some commands need, and that is not installed. */
export class MissingPackageError extends errorWithCode("MISSING_PACKAGE") {}

/**
 * Loads what an optional package is needed for.
 * @param names Packages that it needs, as package.json names them in `peerDependencies`.
 * @param purpose What needs them, for the message.
 * @throws MissingPackageError that says how to install them, or what loading throws
 */
export async function withPackages<T>(names: readonly string[], purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw missing(cause, names, purpose) ?? cause;
  }
}

/** The same for what is loaded at once. @throws MissingPackageError, or what loading throws */
export function withPackagesSync<T>(names: readonly string[], purpose: string, load: () => T): T {
  try {
    return load();
  } catch (cause) {
    throw missing(cause, names, purpose) ?? cause;
  }
}

/** @returns undefined if the cause is another */
function missing(cause: unknown, names: readonly string[], purpose: string): MissingPackageError | undefined {
  const { code, message = "" } = cause as { code?: string; message?: string };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return undefined;
  const name = names.find((known) => new RegExp(`^Cannot find (package|module) '${known}['/]`).test(message));
  if (name === undefined) return undefined;
  const wanted = names.map((known) => `${known}@${versionOf(known)}`).join(" ");
  return new MissingPackageError(`${purpose} needs the package ${name}: npm install ${wanted}`, { cause });
}

/** The version that Refute is tested with. */
function versionOf(name: string): string {
  const own = createRequire(import.meta.url)(findPackageJSON(import.meta.url)!) as {
    peerDependencies: Record<string, string>;
  };
  return own.peerDependencies[name] ?? "latest";
}
