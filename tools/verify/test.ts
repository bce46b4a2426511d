/** Runs the Solidity tests and the TypeScript tests, and closes with one line for both. */
import { isGood, lineOf, run, sumOf } from "./totals.ts";

const extra = process.argv.slice(2);
const runs =
  extra.length > 0
    ? [await run("mocha", extra)]
    : await Promise.all([
        run("mocha", ["--parallel", "--jobs", "2", "test/**/*.test.ts"]),
        // Most of their time is the compiler's, which takes one core. The others wait for clocks now and then.
        run("hardhat", ["test", "solidity"], { isHeld: true }),
      ]);
const total = sumOf(runs);
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
