/** Finds what tests leave behind: processes, and files in the folder for temporary files. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Totals } from "./totals.ts";

/** Environment variables that name the folder for temporary files. */
const VARIABLES = ["TMPDIR", "TMP", "TEMP"];
/** Caches of tools in the folder for temporary files. All runs share them. */
const CACHES = [`tsx-${process.geteuid?.() ?? ""}`, "node-compile-cache"];
/** Files that onnxruntime leaves. */
const OF_OTHERS = /^(mat-debug-\d+\.log|\.ses)$/;
/** How long processes may take to end after the run, on a busy machine. */
const PATIENCE_MS = 10_000;
const POLLING_MS = 100;
const SHOWN = 160;

type Process = { pid: number; command: string };

/** Other processes whose environment names the folder. Only Linux shows the environment of processes. */
export function processesOf(folder: string): Process[] {
  if (!existsSync("/proc/self/environ")) return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .flatMap((pid) => {
      try {
        // Processes of other users cannot be read, and a process may end meanwhile.
        if (!readFileSync(`/proc/${pid}/environ`, "latin1").includes(folder)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim();
        return [{ pid, command: command.slice(0, SHOWN) }];
      } catch {
        return [];
      }
    });
}

/** Files and folders that lie in the folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => !CACHES.includes(name) && !OF_OTHERS.test(name));

/** Makes the folder of a run, and in it a folder for temporary files with links to the shared caches. */
function makeFolder(): { folder: string; temporary: string } {
  const usual = tmpdir();
  const folder = mkdtempSync(join(usual, "refute-run-"));
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  for (const name of CACHES) {
    mkdirSync(join(usual, name), { recursive: true });
    symlinkSync(join(usual, name), join(temporary, name), "junction");
  }
  return { folder, temporary };
}

function killAll(folder: string): void {
  for (const { pid } of processesOf(folder))
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
}

/** Returns the leftovers after processes had time to end, a line each. */
async function leftIn(folder: string, temporary: string, patienceMs: number): Promise<string[]> {
  for (const end = Date.now() + patienceMs; processesOf(folder).length > 0 && Date.now() < end;)
    await sleep(POLLING_MS);
  return [
    ...processesOf(folder).map(({ pid, command }) => `process ${pid}: ${command}`),
    ...filesIn(temporary).map((name) => `file or folder: ${name}`),
  ];
}

/**
 * Runs tests with a folder of their own for temporary files. Processes and files that the tests leave behind are named
 * and removed, and count as one failed test.
 * @param run Runs the tests. Gets a folder for notes, which is removed at the end.
 */
export async function leavingNothing(
  run: (folder: string) => Promise<Totals>,
  patienceMs = PATIENCE_MS,
): Promise<Totals> {
  const { folder, temporary } = makeFolder();
  for (const variable of VARIABLES) process.env[variable] = temporary;
  const clear = (): void => {
    killAll(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", clear);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
  const totals = await run(folder);
  const left = await leftIn(folder, temporary, patienceMs);
  if (left.length === 0) return totals;
  console.error(`The tests leave behind:\n${left.map((line) => `  ${line}`).join("\n")}`);
  return { ...totals, failed: totals.failed + 1 };
}
