/** Runs the Solidity tests and the TypeScript tests, and closes with one line for both. */
import { globSync } from "node:fs";
import { isGood, lineOf, run, runAll } from "./totals.ts";

/** The files that take longest. They come first: one that came last would run alone for minutes. */
const LONGEST = [
  "test/adversaries/reorgs.test.ts",
  "test/contracts/verifier/elementary.test.ts",
  "test/adversaries/faults.test.ts",
  "test/e2e/nodes.test.ts",
  "test/models/everyModel.test.ts",
  "test/decision/models.test.ts",
  "test/contracts/verifier/float32.test.ts",
  "test/contracts/verifier/stepVerifier.test.ts",
];

/** All TypeScript tests, in the order in which they are begun. */
function allTests(): string[] {
  const found = new Set(globSync("test/**/*.test.ts").sort());
  const missing = LONGEST.filter((file) => !found.delete(file));
  if (missing.length > 0) throw new Error(`LONGEST names files that are not there: ${missing.join(", ")}`);
  return [...LONGEST, ...found];
}

const extra = process.argv.slice(2);
const total = await (extra.length > 0 ? run("mocha", extra) : runAll(allTests()));
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
