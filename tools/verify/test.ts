/** Runs the Solidity tests and the TypeScript tests, and closes with one line for both. */
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

type Totals = { passed: number; failed: number; skipped: number };

const count = (output: string, word: string): number =>
  [...output.matchAll(new RegExp(`^\\s*(\\d+) ${word}`, "gm"))].reduce((sum, match) => sum + Number(match[1]), 0);

/** Runs a command, shows its output, and reads the totals that mocha's and Hardhat's reporters print. */
function run(command: string, args: readonly string[]): Promise<Totals> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
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

const extra = process.argv.slice(2);
const runs =
  extra.length > 0
    ? [await run("mocha", extra)]
    : [
        await run("hardhat", ["test", "solidity"]),
        await run("mocha", ["--parallel", "--jobs", "2", "test/**/*.test.ts"]),
      ];
const total = runs.reduce((a, b) => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
}));
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ""}`);
process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
