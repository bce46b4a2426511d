/** Runs test runners and reads their totals. */
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

export type Totals = { passed: number; failed: number; skipped: number };

const count = (output: string, word: string): number =>
  [...output.matchAll(new RegExp(`^\\s*(\\d+) ${word}`, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);

/** How a command is run. */
export type RunOptions = {
  /** Added to this process's environment. */
  env?: NodeJS.ProcessEnv;
  /** Shows the output when the command has ended: it runs beside another one. */
  isHeld?: boolean;
};

/** Runs a command, shows its output, and reads the totals that mocha's and Hardhat's reporters print. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Totals> {
  const { env, isHeld = false } = options;
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    const held: [NodeJS.WriteStream, string][] = [];
    const show = (to: NodeJS.WriteStream, text: string): void => void (isHeld ? held.push([to, text]) : to.write(text));
    let output = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      output += stripVTControlCharacters(text);
      show(process.stdout, text);
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => show(process.stderr, text));
    child.on("close", (status) => {
      for (const [to, text] of held) to.write(text);
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
