import type { ChildProcess } from "node:child_process";
import { guardProcess } from "./guard.ts";

/** Kills a process when this one ends, in any way, so that none is left behind. */
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
