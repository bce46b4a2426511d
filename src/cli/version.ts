import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns Refute's version, from the nearest package.json with Refute's name: sources and built files lie at different
 * depths.
 */
export function version(folder = import.meta.dirname): string {
  const found = packageIn(folder);
  if (found?.name === "refute-ml") return found.version;
  const parent = dirname(folder);
  return parent === folder ? "unknown" : version(parent);
}

function packageIn(folder: string): { name: string; version: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string; version: string };
  } catch {
    return undefined;
  }
}
