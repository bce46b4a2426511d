import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

/** Builds the command line if it is not up to date. @returns its file, as users start it. @throws Error */
export function builtCommandLine(): string {
  const { status, stderr } = spawnSync(process.execPath, [resolve("tools/build.mjs")], { encoding: "utf8" });
  if (status !== 0) throw new Error(`tools/build.mjs ended with ${status}: ${stderr}`);
  return resolve("dist/src/cli/main.js");
}
