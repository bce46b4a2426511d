import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file completely or not at all, in a folder that is created if missing. The function writes a file beside the
 * final path under a unique name, and then moves the file.
 * @param ending The end of the unique name. A killed process leaves such a file.
 * @param write Writes the file at the given path.
 * @param folderMode Permissions of created folders.
 * @throws The errors of `write`. No file remains then.
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
