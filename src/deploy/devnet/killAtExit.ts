import type { ChildProcess } from "node:child_process";

/** Kills a process when this one exits, so that none is left behind. */
export function killAtExit(child: ChildProcess): void {
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.removeListener("exit", kill));
}
