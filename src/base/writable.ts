import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { refusalText } from "./regularFile.ts";

/**
 * Why a folder takes no files, in words that name the folder at fault; undefined if files can be made there. A missing
 * folder is judged by the nearest one above, where the folder would be made.
 */
export function folderProblem(folder: string): string | undefined {
  let at = resolve(folder);
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    if (!statSync(at).isDirectory()) return `${at} is no folder`;
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `the folder ${at} ${refusalText(error)}`;
  }
}

/**
 * Why a file could not be written, in words. Node gives ENOENT where a folder cannot be made on a file system that is
 * read-only: the folders themselves say more.
 * @param error What the file system gave, or another error, which says by itself what is wrong.
 */
export function writeProblem(path: string, error: unknown): string {
  const folder = dirname(resolve(path));
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) return message;
  const problem = folderProblem(folder) ?? (existsSync(folder) ? undefined : `the folder ${folder} is missing`);
  return problem ?? `the file ${refusalText(error)}`;
}
