import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The longest text of a source, bytes; what is longer is not read. `/proc/cpuinfo` has some 1.5 kB a processor. */
const MAX_BYTES = 2 ** 22;

/** How long a tool may take. */
const TOOL_MS = 10_000;

/** The longest name that is taken over, characters. */
const MAX_NAME = 64;

/** Lines of `name: value`; of lines with the same name the first counts. */
export function fieldsOf(text: string): Record<string, string | undefined> {
  const lines = [...text.matchAll(/^([^:\n]+?)\s*:[^\S\n]*(.*)$/gm)].map(([, name, value]) => [
    name!.trim(),
    value!.trim(),
  ]);
  return Object.fromEntries(lines.reverse()) as Record<string, string>;
}

export const nameOf = (text: string | undefined): string | undefined => text?.trim().slice(0, MAX_NAME) || undefined;
export const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/**
 * Reads a file of `/proc` or `/sys`, where file sizes mean nothing. Returns an empty text if the file is unreadable.
 */
export function read(root: string, path: string): string {
  try {
    return readFileSync(join(root, path), "utf8").slice(0, MAX_BYTES);
  } catch {
    return "";
  }
}

export function list(root: string, path: string): string[] {
  try {
    return readdirSync(join(root, path)).sort();
  } catch {
    return [];
  }
}

/** Returns a tool's output, or an empty text if the tool is missing or fails. */
export function run(tool: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const options = { env: { ...env, LC_ALL: "C" }, timeout: TOOL_MS, maxBuffer: MAX_BYTES };
  return new Promise((resolve) => execFile(tool, args, options, (error, text) => resolve(error === null ? text : "")));
}
