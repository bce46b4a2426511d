/**
 * What `npm test` has no time for: the tests that ask testkit/atLength.ts how much they are to play. Reorganisations,
 * killed processes, censorship and lagging nodes after every transaction of a game; adversaries in the other form of
 * claims; real nodes; several times as many operands of the arithmetic on chain; models that take long.
 */
import { globSync, readFileSync } from "node:fs";
import { isGood, lineOf, runMocha } from "./totals.ts";

const tests = globSync("test/**/*.test.ts")
  .filter((file) => readFileSync(file, "utf8").includes("/testkit/atLength.ts"))
  .sort();

const total = await runMocha(tests, { REFUTE_AT_LENGTH: "true" });
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
