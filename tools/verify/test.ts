/** Runs the Solidity tests and the TypeScript tests, and closes with one line for both. */
import { isGood, lineOf, run, runAll } from "./totals.ts";

const extra = process.argv.slice(2);
const total = await (extra.length > 0 ? run("mocha", extra) : runAll(["test/**/*.test.ts"]));
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
