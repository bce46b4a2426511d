import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync, type Stats } from "node:fs";
import { relative, sep } from "node:path";
import { errorWithCode } from "./errors.ts";

/**
 * A file that cannot be read: missing, not a regular file, too large, outside its folder, or changed meanwhile. The
 * message gives only this reason; the caller adds the file's name.
 */
export class FileError extends errorWithCode("FILE") {}

/** The default maximum size of a file, bytes: the limit of a protobuf message, for example a model. */
const MAX_FILE_BYTES = 2 ** 31;

/** The maximum bytes of one read: the operating system gives at most 2 GB. */
const MAX_READ_BYTES = 2 ** 30;

/** An open regular file. */
export type RegularFile = {
  /** In bytes, when it was opened. */
  size: number;
  /** `length` bytes from `offset` on. @throws FileError if the file has become shorter, or memory does not suffice */
  read: (offset: number, length: number) => Uint8Array;
};

/** Describes a path's target unless a regular file. */
function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

/** Reasons of the operating system in words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "is missing",
  ENOTDIR: "is no folder",
  EACCES: "may not be used by this user",
  EPERM: "may not be used by this user",
  EROFS: "lies on a file system that is read-only",
  ENOSPC: "lies on a full disk",
};

/** Why the operating system refuses a file or a folder, in words that go on a name. */
export const refusalText = (error: unknown): string => {
  const { code = "unknown" } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? `cannot be used (${code})`;
};

/** Opens without waiting: a pipe that nobody writes to, or a terminal, would otherwise hold the process up. */
function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) throw new FileError("is a URL, and URLs are not fetched", { cause });
    if (code === "ENOENT" || code === "ENOTDIR") throw new FileError("is missing", { cause });
    if (code === "ENXIO") throw new FileError("is a socket, not a regular file", { cause });
    throw new FileError(`cannot be opened (${code ?? "unknown"})`, { cause });
  }
}

/**
 * Requires that the open file lies in the folder. The path is looked up again after opening. If a link changed in
 * between and leads to another file, the file is refused.
 */
function requireInside(path: string, folder: string, opened: Stats): void {
  let target: string;
  let found: Stats;
  let root: string;
  try {
    target = realpathSync(path);
    found = statSync(target);
    root = realpathSync(folder);
  } catch (cause) {
    throw new FileError("was moved while it was opened", { cause });
  }
  if (relative(root, target).split(sep)[0] === "..") throw new FileError("lies outside the folder");
  if (found.dev !== opened.dev || found.ino !== opened.ino) throw new FileError("was replaced while it was opened");
}

function readBytes(file: number, offset: number, length: number): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(length);
  } catch (cause) {
    throw new FileError(`needs ${length} bytes of memory, which are not there`, { cause });
  }
  for (let done = 0; done < length;) {
    const count = readSync(file, bytes, done, Math.min(length - done, MAX_READ_BYTES), offset + done);
    if (count === 0) throw new FileError(`ends at byte ${offset + done}: it became shorter while it was read`);
    done += count;
  }
  return bytes;
}

/**
 * Opens a regular file once; type and size come from the open file.
 * @param folder If given, a file outside the folder (behind a link, too) is refused.
 * @throws FileError, and the errors of `use`
 */
export function withRegularFile<T>(path: string, use: (file: RegularFile) => T, folder?: string): T {
  const file = open(path);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new FileError(`is ${kindOf(stats)}, not a regular file`);
    if (folder !== undefined) requireInside(path, folder, stats);
    return use({ size: stats.size, read: (offset, length) => readBytes(file, offset, length) });
  } finally {
    closeSync(file);
  }
}

/**
 * Reads all bytes of a regular file.
 * @param maxBytes A larger file is refused before any allocation.
 * @throws FileError
 */
export function readRegularFile(path: string, maxBytes = MAX_FILE_BYTES): Uint8Array {
  return withRegularFile(path, ({ size, read }) => {
    if (size > maxBytes) throw new FileError(`has ${size} bytes, at most ${maxBytes} are read`);
    return read(0, size);
  });
}
