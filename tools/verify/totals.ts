/** Runs test runners and reads their totals. */
import { spawn } from "node:child_process";
import { appendFileSync, globSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

export type Totals = { passed: number; failed: number; skipped: number };

const count = (output: string, word: string): number =>
  [...output.matchAll(new RegExp(`^\\s*(\\d+) ${word}`, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);

/** The tests of `npm test`: all but those of `test/system`, which `npm run verify -- system` runs. */
export const testFiles = (): string[] => globSync("test/**/*.test.ts", { exclude: ["test/system/**"] });

/** How a command is run. */
type RunOptions = {
  /** Added to this process's environment. */
  env?: NodeJS.ProcessEnv | undefined;
  /** A run beside which this one goes on: the output is shown after that one's, as a whole. */
  beside?: Promise<unknown> | undefined;
  /** The name of the command in the table of times (tools/verify/suites.ts). */
  name?: string;
};

/** Writes the duration of a command to the file for times, if the runner wants times. */
function noteTime(name: string | undefined, begin: number): void {
  const times = process.env.REFUTE_SUITE_TIMES;
  if (times === undefined || name === undefined) return;
  appendFileSync(times, `${JSON.stringify({ name, milliseconds: Date.now() - begin })}\n`);
}

/** Runs a command, shows its output, and reads the totals that mocha's and Hardhat's reporters print. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Totals> {
  const { env, beside, name } = options;
  const begin = Date.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    const held: [NodeJS.WriteStream, string][] = [];
    const show = (to: NodeJS.WriteStream, text: string): void =>
      void (beside === undefined ? to.write(text) : held.push([to, text]));
    let output = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      output += stripVTControlCharacters(text);
      show(process.stdout, text);
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => show(process.stderr, text));
    child.on("close", (status) => {
      noteTime(name, begin);
      const totals = {
        passed: count(output, "passing"),
        failed: count(output, "failing"),
        skipped: count(output, "pending"),
      };
      // A runner that dies without a verdict is a failure, whatever it had counted.
      if (status !== 0 && totals.failed === 0) totals.failed = 1;
      void Promise.resolve(beside).then(() => {
        for (const [to, text] of held) to.write(text);
        resolve(totals);
      });
    });
  });
}

/**
 * The order in which files of tests are begun: one that takes long and came last would run alone for minutes.
 * @param longest Comes first.
 * @throws Error if one of them is not among `all`.
 */
export function longestFirst(longest: readonly string[], all: readonly string[]): string[] {
  const others = new Set([...all].sort());
  const missing = longest.filter((file) => !others.delete(file));
  if (missing.length > 0) throw new Error(`LONGEST names files that are not there: ${missing.join(", ")}`);
  return [...longest, ...others];
}

/** Files of tests that run at a time: one more than the cores of the smallest machine, as some wait for clocks. */
const JOBS = 3;

/** Runs TypeScript tests, some files at a time. @param tests Files, and options of mocha. */
export const runMocha = (tests: readonly string[], env?: NodeJS.ProcessEnv): Promise<Totals> =>
  run("mocha", ["--parallel", "--jobs", String(JOBS), ...tests], { env });

/**
 * Runs TypeScript tests and all Solidity tests, side by side: these take one core, and those wait for clocks now and
 * then.
 * @param tests Files, and options of mocha. They begin when `after` has ended.
 */
export async function runAll(
  tests: readonly string[],
  { env, after }: { env?: NodeJS.ProcessEnv; after?: Promise<unknown> } = {},
): Promise<Totals> {
  const mocha = Promise.resolve(after).then(() => runMocha(tests, env));
  return sumOf(
    await Promise.all([mocha, run("hardhat", ["test", "solidity"], { env, beside: mocha, name: "(Solidity)" })]),
  );
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
