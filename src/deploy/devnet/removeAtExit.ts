import { rmSync } from "node:fs";

/** Removes a file or a folder when this process exits, so that none is left behind. @returns Removes it now instead. */
export function removeAtExit(path: string): () => void {
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  return () => {
    process.removeListener("exit", remove);
    remove();
  };
}
