import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

let built: string | undefined;

/**
 * Builds the command line if out of date, once per process.
 * @returns the file that users start. @throws Error
 */
export function builtCommandLine(): string {
  if (built !== undefined) return built;
  const { status, stderr } = spawnSync(process.execPath, [resolve("tools/build.mjs")], { encoding: "utf8" });
  if (status !== 0) throw new Error(`tools/build.mjs ended with ${status}: ${stderr}`);
  return (built = resolve("dist/src/cli/main.js"));
}
