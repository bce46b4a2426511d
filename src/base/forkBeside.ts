import { fork, type ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Starts a module in a process of its own, which gets and sends structured clones; of its output only stderr is kept.
 * @param of The caller's `import.meta.url`
 * @param name The module beside it, without its ending
 */
export function forkBeside(of: string, name: string, execArgv: readonly string[] = []): ChildProcess {
  const file = fileURLToPath(new URL(`./${name}${extname(of)}`, of));
  return fork(file, [], {
    execArgv: [...loaderOf(file), ...execArgv],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}

/** Node's own TypeScript support takes a third of a loader's time, but older versions lack the support. */
function loaderOf(file: string): string[] {
  const isUnderstood = (process.features as { typescript?: unknown }).typescript === "strip";
  if (extname(file) !== ".ts" || isUnderstood) return [];
  return ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href];
}
