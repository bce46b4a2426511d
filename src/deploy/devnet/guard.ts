import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * The program of a shell that outlives the current process. The shell reads lines until its input ends. The input ends
 * with the current process, also if a signal kills the process. Then the shell executes the last line.
 */
const SHELL = 'while read -r line; do last=$line; done; eval "$last"';

const processes = new Set<number>();
const paths = new Set<string>();
let guard: Socket | undefined;

const quoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;

function instruct(): void {
  guard ??= start();
  const kill = processes.size === 0 ? "" : `kill -KILL ${[...processes].join(" ")};`;
  const remove = paths.size === 0 ? "" : `rm -rf -- ${[...paths].map(quoted).join(" ")}`;
  guard.write(`${kill} ${remove}\n`);
}

function start(): Socket {
  // In a session of its own: Ctrl-C in a terminal, or a terminal that closes, does not reach it.
  const shell = spawn("sh", ["-c", SHELL], { stdio: ["pipe", "ignore", "ignore"], detached: true, cwd: "/" });
  const input = shell.stdin as Socket;
  // Without a shell, only an orderly exit ends the guarded processes.
  for (const each of [shell, input]) each.on("error", () => {}).unref();
  return input;
}

/** Adds an entry to the instructions of the shell. @returns Removes the entry */
function guarded<T>(all: Set<T>, one: T): () => void {
  all.add(one);
  instruct();
  return () => {
    if (all.delete(one)) instruct();
  };
}

/** Kills a process when the current process ends or is killed. @returns Cancels the order */
export const guardProcess = (pid: number): (() => void) => guarded(processes, pid);

/** Removes a file or a folder when the current process ends or is killed. @returns Cancels the order */
export const guardPath = (path: string): (() => void) => guarded(paths, path);
