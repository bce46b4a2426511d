/**
 * Runs the tests for which `npm test` has no time: the files named in suites.ts, and in the files that ask
 * testkit/atLength.ts the tests not played there, and all tests played only in part. Tests played wholly are not played
 * again. Reorganisations, killed processes, censorship and lagging nodes after every transaction of a game; adversaries
 * in the other form of claims; real nodes; several times as many operands of the arithmetic on chain; models that take
 * long. In parallel all Solidity tests, with more random sequences.
 */
import { existsSync, readFileSync } from "node:fs";
import { readOptions } from "../options.ts";
import { leavingNothing } from "./leftovers.ts";
import { WHOLLY_AT_LENGTH } from "./suites.ts";
import { isGood, lineOf, longestFirst, runAll, runMocha, sumOf, testFiles, type Totals } from "./totals.ts";

/** Tests waiting for nodes and clocks come first, in parallel with the Solidity tests; then the longest tests. */
const LONGEST = [
  "test/executor/gpu/models.test.ts",
  "test/executor/gpu/decoders.test.ts",
  "test/e2e/blobs.test.ts",
  "test/adversaries/reorgs.test.ts",
  "test/docs/executedWithOthers.test.ts",
  "test/deploy/devnet/devnet.test.ts",
  "test/e2e/nodes.test.ts",
  "test/e2e/killed.test.ts",
  "test/docs/deploying.test.ts",
  "test/docs/executed.test.ts",
  "test/e2e/dispatch.test.ts",
  "test/e2e/trainProcesses.test.ts",
  "test/parties/gateway/longText.test.ts",
  "test/adversaries/faults.test.ts",
  "test/executor/random.test.ts",
  "test/models/everyModel.test.ts",
  "test/executor/loops/reductions.test.ts",
];

/** Debian's second software driver for Vulkan (mesa-vulkan-drivers, 25 or newer). */
const MESA = "/usr/share/vulkan/icd.d/lvp_icd.json";

/** The tests of GPUs on the second driver. */
const onMesa = (): Promise<Totals> =>
  runMocha(
    testFiles().filter((file) => file.startsWith("test/executor/gpu/")),
    { VK_DRIVER_FILES: MESA },
  );

readOptions({});
const found = testFiles().filter((file) => readFileSync(file, "utf8").includes("/testkit/atLength.ts"));
const tests = longestFirst(LONGEST, [...found, ...WHOLLY_AT_LENGTH]);

const env = { REFUTE_AT_LENGTH: "true" };
const total = await leavingNothing(async () => {
  const totals = await runAll(tests, { env });
  return existsSync(MESA) ? sumOf([totals, await onMesa()]) : totals;
});
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
