import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./runCommand.ts";

/** A file in the package, its size in bytes. */
type PackedFile = { path: string; size: number };

/** What `npm pack` made. */
export type Packed = { file: string; sha256: string; files: readonly PackedFile[]; size: number; unpackedSize: number };

type Answer = [{ filename: string; files: PackedFile[]; size: number; unpackedSize: number }];

/** Packs the package as it is built. @param folder Where the file goes. */
export function pack(folder: string): Packed {
  mkdirSync(folder, { recursive: true });
  const [{ filename, files, size, unpackedSize }] = JSON.parse(
    runCommand("npm", ["pack", "--json", "--pack-destination", folder]),
  ) as Answer;
  const file = join(folder, filename);
  return { file, sha256: createHash("sha256").update(readFileSync(file)).digest("hex"), files, size, unpackedSize };
}

/** What packages like this one must not hold. */
const UNWANTED = /\.test\.|(^|\/)(test|testkit|tools|node_modules)\/|contracts\/test\/|build-info|\.env|\.pem$|\.tgz$/;

/** What is wrong with the list of files. */
export function contentProblems(files: readonly PackedFile[]): string[] {
  const names = new Set(files.map(({ path }) => path));
  const needed = ["README.md", "LICENSE", "package.json", "dist/THIRD_PARTY_LICENSES.txt", "dist/src/cli/main.js"];
  return [
    ...[...names].filter((path) => UNWANTED.test(path)).map((path) => `${path} does not belong in the package`),
    ...needed.filter((path) => !names.has(path)).map((path) => `${path} is missing`),
  ];
}

/** The sizes of the folders, largest first: two levels of those below dist. */
export function sizesByFolder(files: readonly PackedFile[]): [folder: string, bytes: number][] {
  const sizes = new Map<string, number>();
  for (const { path, size } of files) {
    const parts = path.split("/");
    const folder =
      parts.length === 1
        ? "."
        : parts
            .slice(0, parts[0] === "dist" ? -1 : 1)
            .slice(0, 3)
            .join("/");
    sizes.set(folder, (sizes.get(folder) ?? 0) + size);
  }
  return [...sizes].sort(([, a], [, b]) => b - a);
}
