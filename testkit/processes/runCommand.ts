import { spawnSync } from "node:child_process";

/**
 * Runs a command.
 * @returns the printed output
 * @throws Error with the printed output, if the command fails
 */
export function runCommand(command: string, args: readonly string[], cwd = ".", env = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return stdout;
  const printed = `${stdout}${stderr}`.trim().split("\n").slice(-30).join("\n");
  throw new Error(`${command} ${args.join(" ")} ended with ${error?.message ?? status}:\n${printed}`);
}

/** Whether a program can be started on this machine. */
export const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).error === undefined;
