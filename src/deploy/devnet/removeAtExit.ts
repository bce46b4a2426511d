import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { guardPath } from "./guard.ts";

/**
 * Removes a file or a folder when the current process ends in any way. No file is left behind.
 * @returns Removes the file or folder now instead.
 */
export function removeAtExit(path: string): () => void {
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  const release = guardPath(resolve(path));
  return () => {
    process.removeListener("exit", remove);
    release();
    remove();
  };
}
