import { dirname } from "node:path";
import { folderProblem } from "../base/writable.ts";
import { UsageError } from "./errors.ts";

/** Requires that files can be made in a folder, before work or money is spent. @throws UsageError */
export function requireFolder(flag: string, folder: string): void {
  const problem = folderProblem(folder);
  if (problem !== undefined) throw new UsageError(`${flag} ${folder}: cannot be written: ${problem}: name another one`);
}

/** Requires that a file can be made, before work or money is spent. @throws UsageError */
export function requirePlace(flag: string, file: string): void {
  const problem = folderProblem(dirname(file));
  if (problem !== undefined) throw new UsageError(`${flag} ${file}: cannot be written: ${problem}: name another one`);
}

/** What is said of a cache that takes no files; undefined of a usable one. */
export function cacheProblem(folder: string): string | undefined {
  const problem = folderProblem(folder);
  return problem && `--cache ${folder}: nothing is kept for the next start: ${problem}: name another folder`;
}
