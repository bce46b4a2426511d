/** Runs test runners and reads their totals. */
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

export type Totals = { passed: number; failed: number; skipped: number };

const count = (output: string, word: string): number =>
  [...output.matchAll(new RegExp(`^\\s*(\\d+) ${word}`, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);

/**
 * Runs a command, shows its output, and reads the totals that mocha's and Hardhat's reporters print.
 * @param env Added to this process's environment.
 */
export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Totals> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } });
    let output = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      output += stripVTControlCharacters(text);
      process.stdout.write(text);
    });
    child.on("close", (status) => {
      const totals = {
        passed: count(output, "passing"),
        failed: count(output, "failing"),
        skipped: count(output, "pending"),
      };
      // A runner that dies without a verdict is a failure, whatever it had counted.
      if (status !== 0 && totals.failed === 0) totals.failed = 1;
      resolve(totals);
    });
  });
}

/** The sum of several runs. */
export const sumOf = (runs: readonly Totals[]): Totals =>
  runs.reduce((a, b) => ({
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  }));

/** One line: `N passed, N failed`, and what was skipped if anything was. */
export const lineOf = ({ passed, failed, skipped }: Totals): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** Whether nothing failed, and anything ran at all. */
export const isGood = ({ passed, failed }: Totals): boolean => failed === 0 && passed > 0;
