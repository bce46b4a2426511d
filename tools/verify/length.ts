/**
 * What `npm test` has no time for: the tests that ask testkit/atLength.ts how much they are to play. Reorganisations,
 * killed processes, censorship and lagging nodes after every transaction of a game; adversaries in the other form of
 * claims; real nodes; several times as many operands of the arithmetic on chain; models that take long. Beside them all
 * Solidity tests, with more random sequences.
 */
import { globSync, readFileSync } from "node:fs";
import { isGood, lineOf, run, runMocha, sumOf } from "./totals.ts";

const tests = globSync("test/**/*.test.ts")
  .filter((file) => readFileSync(file, "utf8").includes("/testkit/atLength.ts"))
  .sort();

const env = { REFUTE_AT_LENGTH: "true" };
const mocha = runMocha(tests, env);
const total = sumOf(await Promise.all([mocha, run("hardhat", ["test", "solidity"], { env, beside: mocha })]));
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
