import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * A shell that outlives this process. It keeps the last line that it reads; at the end of its input, which comes when
 * this process ends in any way, also killed, it executes that line.
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
  // Where there is no shell, what is guarded goes when this process exits by itself.
  for (const each of [shell, input]) each.on("error", () => {}).unref();
  return input;
}

/** Has something done when this process ends without a word. @returns Takes that back */
function guarded<T>(all: Set<T>, one: T): () => void {
  all.add(one);
  instruct();
  return () => {
    if (all.delete(one)) instruct();
  };
}

/** Kills a process when this one ends, also where this one is killed. @returns Takes that back */
export const guardProcess = (pid: number): (() => void) => guarded(processes, pid);

/** Removes a file or a folder when this process ends, also where this one is killed. @returns Takes that back */
export const guardPath = (path: string): (() => void) => guarded(paths, path);
