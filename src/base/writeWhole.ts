import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { folderProblem } from "./writable.ts";

/**
 * Writes a file completely or not at all, in a folder that is created if missing. The function writes a file beside the
 * final path under a unique name, and then moves the file.
 * @param ending The end of the unique name. A killed process leaves such a file.
 * @param write Writes the file at the given path.
 * @param folderMode Permissions of created folders.
 * @throws The errors of `write`. No file remains then. If the folder takes no files, the message names the folder.
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
    if (!isOfFiles(error)) throw error;
    const problem = folderProblem(dirname(path));
    throw problem === undefined ? error : Object.assign(new Error(problem, { cause: error }), { code: error.code });
  }
}

const isOfFiles = (error: unknown): error is NodeJS.ErrnoException => "syscall" in (error as NodeJS.ErrnoException);

/** The folder takes no other file, though the file itself may be written: a single mounted file, for example. */
const ONLY_THE_FILE = ["EACCES", "EPERM", "EBUSY", "EROFS"];

/** One call of the file system writes less than 2 GiB. */
const MAX_WRITTEN = 2 ** 30;

/**
 * Writes a file completely or not at all: on a full disk, an earlier file stays unchanged for readers. A pipe, or
 * another path without a regular file, gets the bytes directly.
 * @throws The errors of the file system. No part of the file remains then.
 */
export function writeWholeSync(path: string, data: string | Uint8Array): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) return write(path, data, "w");
  // A link goes on to lead to the file.
  const target = found === undefined ? path : realpathSync(path);
  // Not longer than the name where that has the greatest length.
  const unfinished = join(dirname(target), `${randomUUID()}.tmp`);
  try {
    write(unfinished, data, "wx", found && found.mode & 0o777);
    renameSync(unfinished, target);
  } catch (error) {
    if (folderProblem(dirname(target)) === undefined) rmSync(unfinished, { force: true });
    if (found === undefined || !ONLY_THE_FILE.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    write(path, data, "w");
  }
}

/**
 * Makes a file durably, completely or not at all.
 * @throws The errors of the file system: EEXIST leaves an existing file unchanged.
 */
export const createWholeSync = (path: string, data: string, mode: number): void => write(path, data, "wx", mode);

function write(path: string, data: string | Uint8Array, flag: "w" | "wx", mode?: number): void {
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  const file = openSync(path, flag, mode);
  let isWhole = false;
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, Math.min(MAX_WRITTEN, bytes.length - at));
    if (flag === "wx") fsyncSync(file);
    isWhole = true;
  } finally {
    closeSync(file);
    if (flag === "wx" && !isWhole) rmSync(path);
  }
}
