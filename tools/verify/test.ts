/**
 * Builds the contracts and the command line, runs the tests, prints how long each suite took, and closes with one line
 * for all suites. A process or a folder that a test leaves behind is a failure.
 */
import { readFileSync } from "node:fs";
import { leavingNothing } from "./leftovers.ts";
import { noteTimes, suiteSeconds, suiteTable } from "./suites.ts";
import { isGood, lineOf, longestFirst, run, runAll, runMocha, sumOf, testFiles, type Totals } from "./totals.ts";

/**
 * Folders whose tests need nothing that is built, unless they start a verifier: they run beside the compiler of
 * contracts, which takes one core.
 */
const NEED_NO_BUILD = ["compiler", "executor", "model/onnx", "model/tokenizer", "numerics", "program"];

/** The files that take longest. */
const LONGEST = [
  "test/chain/nodes.test.ts",
  "test/adversaries/faults.test.ts",
  "test/adversaries/reorgs.test.ts",
  "test/model/decision/models.test.ts",
  "test/runs/programs/ownModels.test.ts",
  "test/models/everyModel.test.ts",
  "test/contracts/verifier/stepVerifier.test.ts",
];

/** All TypeScript tests, in the order in which they are begun. */
const allTests = (): string[] => longestFirst(LONGEST, testFiles());

/** Builds. The output is shown as a whole after the output of the run beside. */
async function build(beside?: Promise<unknown>): Promise<Totals> {
  const contracts = await run("hardhat", ["build", "--quiet", "--no-tests"], { beside, name: "(contracts)" });
  return contracts.failed > 0 ? contracts : run("node", ["tools/build.mjs"], { beside, name: "(dist)" });
}

const needsBuild = (file: string): boolean =>
  !NEED_NO_BUILD.some((folder) => file.startsWith(`test/${folder}/`)) ||
  readFileSync(file, "utf8").includes("/chainVerifier.ts");

async function runEverything(): Promise<Totals> {
  const early = runMocha(allTests().filter((file) => !needsBuild(file)));
  const built = await build(early);
  if (built.failed > 0) return sumOf([built, await early]);
  return sumOf(await Promise.all([early, runAll(allTests().filter(needsBuild), { after: early })]));
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
