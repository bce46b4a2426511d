import { createRequire, findPackageJSON } from "node:module";
import { errorWithCode } from "./errors.ts";

/** A package needed by only some commands has not been installed. */
export class MissingPackageError extends errorWithCode("MISSING_PACKAGE") {}

/**
 * Loads a module that depends on optional packages.
 * @param names Packages that the module needs, named as in package.json's `peerDependencies`.
 * @param purpose The feature that needs the packages, for the message.
 * @throws MissingPackageError that explains how to install the packages, or any error from loading
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

/**
 * Checks all packages of a command at once, before the command begins.
 * @param names Packages, as in package.json's `peerDependencies` or of any other name.
 * @param purpose The feature that needs the packages, for the message.
 * @throws MissingPackageError, with all missing packages and a command for installing these packages
 */
export function requirePackages(names: readonly string[], purpose: string): void {
  const absent = names.filter((name) => !isInstalled(name));
  if (absent.length > 0) throw missingError(absent, purpose);
}

/** @returns undefined if the cause is another */
function missing(cause: unknown, names: readonly string[], purpose: string): MissingPackageError | undefined {
  const { code, message = "" } = cause as { code?: string; message?: string };
  if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") return undefined;
  const name = names.find((known) => new RegExp(`^Cannot find (package|module) '${known}['/]`).test(message));
  if (name === undefined) return undefined;
  return missingError([name, ...names.filter((other) => other !== name && !isInstalled(other))], purpose, { cause });
}

function missingError(names: readonly string[], purpose: string, options?: ErrorOptions): MissingPackageError {
  // The package's own script would download gigabytes for GPUs, and an install without a network would fail.
  const install = names.includes("onnxruntime-node") ? "npm install --ignore-scripts" : "npm install";
  const what = names.length === 1 ? `the package ${names[0]}` : `the packages ${names.join(", ")}`;
  return new MissingPackageError(`${purpose} needs ${what}: ${install} ${names.map(withVersion).join(" ")}`, options);
}

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}

/** A package with the version in Refute's tests. */
export function withVersion(name: string): string {
  const own = createRequire(import.meta.url)(findPackageJSON(import.meta.url)!) as {
    peerDependencies: Record<string, string>;
  };
  const version = own.peerDependencies[name];
  return version === undefined ? name : `${name}@${version.replace("^", "")}`;
}
