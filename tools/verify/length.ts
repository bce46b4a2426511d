/**
 * What `npm test` leaves out of some tests, or these at length: reorganisations, killed processes, censorship and
 * lagging nodes after every transaction of a game; adversaries in the other form of claims; four times as many operands
 * of the arithmetic on chain; models that take long.
 */
import { isGood, lineOf, runMocha } from "./totals.ts";

const TESTS = [
  "test/adversaries/faults.test.ts",
  "test/adversaries/reorgs.test.ts",
  "test/adversaries/runReads.test.ts",
  "test/adversaries/answers.test.ts",
  "test/contracts/verifier/elementary.test.ts",
  "test/contracts/verifier/float32.test.ts",
  "test/contracts/verifier/stepVerifier.test.ts",
  "test/models/everyModel.test.ts",
  "test/models/programRoots.test.ts",
];

const total = await runMocha(TESTS, { REFUTE_AT_LENGTH: "true" });
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
