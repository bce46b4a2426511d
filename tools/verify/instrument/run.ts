import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";

export type RunOptions = { quietSeconds?: number; env?: NodeJS.ProcessEnv };

/**
 * Runs a program in a folder.
 * @param options quietSeconds: the seconds without output until the program is killed. env: added to this process's
 *   environment.
 * @returns The exit status; -1 if the program was killed.
 */
export function run(
  folder: string,
  command: string,
  args: readonly string[],
  onLine: (line: string) => void,
  { quietSeconds = 1_800, env = {} }: RunOptions = {},
): Promise<number> {
  return new Promise((done) => {
    const child = spawn(command, args, {
      ...{ cwd: folder, env: { ...process.env, ...env } },
      stdio: ["ignore", "pipe", "pipe"],
    });
    killAtExit(child);
    const kill = () => void child.kill("SIGKILL");
    let watch = setTimeout(kill, quietSeconds * 1_000);
    const take = (line: string) => {
      clearTimeout(watch);
      watch = setTimeout(kill, quietSeconds * 1_000);
      onLine(line);
    };
    createInterface({ input: child.stdout }).on("line", take);
    createInterface({ input: child.stderr }).on("line", take);
    child.on("close", (status) => {
      clearTimeout(watch);
      done(status ?? -1);
    });
  });
}
