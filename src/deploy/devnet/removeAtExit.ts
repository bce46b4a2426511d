import { rmSync } from "node:fs";

/**
 * Removes a file or a folder when the current process exits. No file is left behind.
 * @returns Removes the file or folder now instead.
 */
export function removeAtExit(path: string): () => void {
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  return () => {
    process.removeListener("exit", remove);
    remove();
  };
}
