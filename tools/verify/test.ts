/**
 * Unpacks the contracts, or compiles them if they changed; builds the command line; runs the TypeScript tests; prints
 * how long each suite took, and closes with one line for all suites. A process or a folder that a test leaves behind is
 * a failure. The Solidity tests and the longest TypeScript tests are played at length (length.ts).
 */
import { readFileSync } from "node:fs";
import { leavingNothing } from "./leftovers.ts";
import { noteTimes, suiteSeconds, suiteTable, WHOLLY_AT_LENGTH } from "./suites.ts";
import { unpackArtifacts } from "../setup/contracts.mjs";
import { isGood, lineOf, longestFirst, run, runMocha, sumOf, testFiles, type Totals } from "./totals.ts";

/**
 * Folders whose tests need no build, unless they start a verifier: they run in parallel with the contract compiler,
 * which takes one core.
 */
const NEED_NO_BUILD = ["compiler", "executor", "model/onnx", "model/tokenizer", "numerics", "program"];

/** The files that take longest. */
const LONGEST = [
  "test/chain/nodes.test.ts",
  "test/adversaries/faults.test.ts",
  "test/runs/programs/ownModels.test.ts",
  "test/contracts/verifier/stepVerifier.test.ts",
];

/** The tests, in the order in which they are begun. */
const allTests = (): string[] =>
  longestFirst(
    LONGEST,
    testFiles().filter((file) => !WHOLLY_AT_LENGTH.includes(file)),
  );

/** Builds. The output is shown as a whole after the parallel run's output. */
async function build(beside?: Promise<unknown>): Promise<Totals> {
  if (!unpackArtifacts()) {
    const contracts = await run("hardhat", ["build", "--quiet", "--no-tests"], { beside, name: "(contracts)" });
    if (contracts.failed > 0) return contracts;
  }
  return run("node", ["tools/build.mjs"], { beside, name: "(dist)" });
}

const needsBuild = (file: string): boolean =>
  !NEED_NO_BUILD.some((folder) => file.startsWith(`test/${folder}/`)) ||
  readFileSync(file, "utf8").includes("/chainVerifier.ts");

async function runEverything(): Promise<Totals> {
  const early = runMocha(allTests().filter((file) => !needsBuild(file)));
  const built = await build(early);
  if (built.failed > 0) return sumOf([built, await early]);
  return sumOf([await early, await runMocha(allTests().filter(needsBuild))]);
}

async function runThese(tests: readonly string[]): Promise<Totals> {
  const built = await build();
  return built.failed > 0 ? built : run("mocha", tests);
}

const these = process.argv.slice(2);
const total = await leavingNothing(async (folder) => {
  if (these.length > 0) return runThese(these);
  const times = noteTimes(folder);
  const totals = await runEverything();
  console.log(suiteTable(suiteSeconds(times)));
  return totals;
});
console.log(lineOf(total));
process.exitCode = isGood(total) ? 0 : 1;
