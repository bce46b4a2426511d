import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Puts a file in its place whole or not at all, in a folder that is made if it is missing: the file is written beside
 * it, under a name that nobody else has, and then moved.
 * @param ending How that name ends. A process that is killed leaves such a file.
 * @param write Writes the file at the path that it is given.
 * @param folderMode Permissions of folders that are made.
 * @throws What writing throws. Nothing is left then.
 */
export async function writeWhole(
  path: string,
  ending: string,
  write: (unfinished: string) => Promise<void>,
  folderMode?: number,
): Promise<void> {
  const unfinished = `${path}.${randomUUID()}${ending}`;
  try {
    await mkdir(dirname(path), { recursive: true, ...(folderMode !== undefined && { mode: folderMode }) });
    await write(unfinished);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw error;
  }
}
