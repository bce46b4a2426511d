import type { ChildProcess } from "node:child_process";
import { guardProcess } from "./guard.ts";

/** Kills the child process when the current process ends in any way. No child is left behind. */
export function killAtExit(child: ChildProcess): void {
  // It could not be started.
  if (child.pid === undefined) return;
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const release = guardProcess(child.pid);
  child.once("exit", () => {
    process.removeListener("exit", kill);
    release();
  });
}
