import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** This package's folder: the nearest folder above this file with a package.json. */
const ROOT = ((): string => {
  for (let folder = import.meta.dirname; ; folder = dirname(folder))
    if (existsSync(join(folder, "package.json")) || folder === dirname(folder)) return folder;
})();

/** A file or folder that comes with the package. @param path Below the package's folder. */
export const packageFile = (...path: readonly string[]): string => join(ROOT, ...path);
