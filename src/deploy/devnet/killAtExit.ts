import type { ChildProcess } from "node:child_process";

/** Kills the child process when the current process exits. No child is left behind. */
export function killAtExit(child: ChildProcess): void {
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.removeListener("exit", kill));
}
