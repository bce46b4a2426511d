/**
 * The tests of reorganisations, killed processes, censorship and nodes that lag, after every transaction of a game and
 * with every number of blocks. `npm test` has them after one transaction of each function.
 */
import { isGood, lineOf, runMocha } from "./totals.ts";

const TESTS = ["test/adversaries/faults.test.ts", "test/adversaries/reorgs.test.ts"];

const total = await runMocha(TESTS, { REFUTE_DISTURB: "all" });
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
