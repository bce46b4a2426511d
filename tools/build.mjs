// Plain Node and the compilers: makes `dist` from the TypeScript sources and the compiled contracts unless it is up to
// date.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { artifactFiles, packContracts } from "./package/artifacts.mjs";
import { bundleForBrowsers } from "./package/browser.mjs";
import { pruneDeclarations } from "./package/declarations.mjs";
import { licenceTexts } from "./package/licences.mjs";
import { bundleLibraries } from "./package/libraries.mjs";
import { thinSourceMaps } from "./package/sourceMaps.mjs";
import { transpile } from "./package/transpile.mjs";

process.chdir(resolve(import.meta.dirname, ".."));
const OUT = "dist";
const STAMP = join(OUT, "sources.txt");
const FOLDERS = ["src", "watcher", "ignition", "examples"];
const TOOLS = ["build.mjs", ...readdirSync("tools/package").map((name) => `package/${name}`)];
const FILES = [
  ...["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"],
  ...TOOLS.map((name) => `tools/${name}`),
];

/** A line for each source: name, time and size. Files that were removed or replaced by older ones change it too. */
function sources() {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  const line = (path) => `${path} ${statSync(path).mtimeMs} ${statSync(path).size}`;
  return [...FILES, ...found.sort(), ...artifactFiles()].map(line).join("\n");
}

async function build(fresh) {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", fresh], {
    stdio: ["inherit", process.stderr, "inherit"],
  });
  if (status !== 0) throw new Error(`tsc ended with ${status}`);
  await transpile(fresh);
  const bundled = await bundleLibraries(fresh);
  await bundleForBrowsers(join(fresh, "browser.js"));
  thinSourceMaps(fresh);
  pruneDeclarations(fresh, "src/package");
  packContracts(join(fresh, "contracts.br"));
  writeFileSync(join(fresh, "THIRD_PARTY_LICENSES.txt"), licenceTexts(bundled));
}

const wanted = sources();
if (!existsSync(STAMP) || readFileSync(STAMP, "utf8") !== wanted) {
  console.error("Building dist ...");
  // A folder of its own, so that two builds at once, or one that is interrupted, leave nothing half-written.
  const fresh = `${OUT}-${process.pid}`;
  try {
    await build(fresh);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    console.error(`refute: dist cannot be built: ${error.message}`);
    process.exit(1);
  }
  writeFileSync(join(fresh, "sources.txt"), wanted);
  const old = `${OUT}-old-${process.pid}`;
  if (existsSync(OUT)) renameSync(OUT, old);
  renameSync(fresh, OUT);
  rmSync(old, { recursive: true, force: true });
}
