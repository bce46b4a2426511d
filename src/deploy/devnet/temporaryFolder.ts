import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DevnetError } from "./errors.ts";
import { removeAtExit } from "./removeAtExit.ts";

/**
 * Makes a temporary folder. The folder disappears when the current process exits, or earlier by `remove`.
 * @throws DevnetError
 */
export function temporaryFolder(prefix: string): { path: string; remove: () => void } {
  try {
    const path = mkdtempSync(join(tmpdir(), prefix));
    return { path, remove: removeAtExit(path) };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new DevnetError(`no temporary folder can be made (${why}): name a folder for them with TMPDIR`, { cause });
  }
}
