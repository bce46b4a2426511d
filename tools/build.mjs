// Plain Node, no dependency but the compiler: makes `dist` from the TypeScript sources unless it is up to date.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

process.chdir(resolve(import.meta.dirname, ".."));
const OUT = "dist";
const STAMP = join(OUT, "sources.txt");
const FOLDERS = ["src", "watcher", "ignition/modules", "examples"];
const FILES = ["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json", "tools/build.mjs"];

/** A line for each source: name, time and size. Files that were removed or replaced by older ones change it too. */
function sources() {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  const line = (path) => `${path} ${statSync(path).mtimeMs} ${statSync(path).size}`;
  return [...FILES, ...found.sort()].map(line).join("\n");
}

const wanted = sources();
if (!existsSync(STAMP) || readFileSync(STAMP, "utf8") !== wanted) {
  console.error("Building dist ...");
  // A folder of its own, so that two builds at once, or one that is interrupted, leave nothing half-written.
  const fresh = `${OUT}-${process.pid}`;
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", fresh], {
    stdio: "inherit",
  });
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
  writeFileSync(join(fresh, "sources.txt"), wanted);
  const old = `${OUT}-old-${process.pid}`;
  if (existsSync(OUT)) renameSync(OUT, old);
  renameSync(fresh, OUT);
  rmSync(old, { recursive: true, force: true });
}
