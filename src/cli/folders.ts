import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { folderProblem, writeProblem } from "../base/writable.ts";
import { UsageError } from "./errors.ts";

/** Where data that must not be lost lie if nothing else is said (XDG Base Directory Specification). */
export const STATE_FOLDER = join(process.env.XDG_STATE_HOME ?? join(homedir(), ".local", "state"), "refute");

/** Requires that files can be made in a folder, before work or money is spent. @throws UsageError */
export function requireFolder(flag: string, folder: string, path = folder): void {
  const problem = folderProblem(folder);
  if (problem !== undefined) throw new UsageError(`${flag} ${path}: cannot be written: ${problem}: name another one`);
}

/** Requires that a file can be made, before work or money is spent. @throws UsageError */
export const requirePlace = (flag: string, file: string): void => requireFolder(flag, dirname(file), file);

/**
 * Writes the file that a flag names.
 * @param flag With all that stands before the path: `--out `, `--output NAME=`.
 * @throws UsageError if the file cannot be written
 */
export function writing(flag: string, path: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    throw new UsageError(`${flag}${path}: cannot be written: ${writeProblem(path, cause)}: name another file`, {
      cause,
    });
  }
}

/** The message about a cache without room for files; undefined of a usable one. */
export function cacheProblem(folder: string): string | undefined {
  const problem = folderProblem(folder);
  return problem && `--cache ${folder}: nothing is kept for the next start: ${problem}: name another folder`;
}
