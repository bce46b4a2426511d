import { fork, type ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Starts a module in a process of its own, which gets and sends structured clones; of its output only stderr is kept.
 * @param of The caller's `import.meta.url`
 * @param name The module beside it, without its ending
 */
export function forkBeside(of: string, name: string, execArgv: readonly string[] = []): ChildProcess {
  const file = fileURLToPath(new URL(`./${name}${extname(of)}`, of));
  return fork(file, [], {
    execArgv: [...execArgv],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}
