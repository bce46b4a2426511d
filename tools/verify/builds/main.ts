/**
 * Compiles the contracts in other ways than for deployment, and runs the contract tests on each build. The tests
 * compare the contracts with the definition, with models and with the rules. A test failing on one build only shows a
 * compiler error, or code relying on a compiler error. `--compile` only compiles, ahead of the tests: a compiler takes
 * one core, and the tests take all.
 */
import { globSync } from "node:fs";
import { flag, readOptions, text } from "../../options.ts";
import { isGood, lineOf, run, runAll, runMocha, type Totals } from "../totals.ts";
import { BUILD_NAMES, buildOf, type BuildName } from "./build.ts";

const FOLDERS = ["verifier", "merkle", "game", "market", "vault", "attestation", "examples"];

/** Tests of the shipped build's figures. Other builds take other gas, without an estimate. */
const ONLY_SHIPPED = [
  "test/contracts/verifier/gas.test.ts",
  "test/contracts/verifier/gasOfTerms.test.ts",
  "test/contracts/game/gasPrices.test.ts",
  "test/contracts/game/gasSchedule.test.ts",
  "test/contracts/game/proofGas.test.ts",
  "test/contracts/game/runGas.test.ts",
];

/** The same for a single test, among others that every build must pass. */
const NOT_FOR_OTHERS = ["--grep", "isWithinTheGasBound", "--invert"];

type Work = {
  /** The compiled contracts; everything if empty. */
  readonly contracts: readonly string[];
  readonly tests: readonly string[];
  readonly solidityTests: boolean;
};

const everything: Work = {
  contracts: [],
  tests: globSync(`test/contracts/{${FOLDERS.join()}}/*.test.ts`).filter((file) => !ONLY_SHIPPED.includes(file)),
  solidityTests: true,
};

const WORK: Record<BuildName, Work> = {
  shipped: everything,
  noStaleKnowledge: everything,
  // "Stack too deep" in StepVerifier, Float32Harness, FloatHarness, DisputeGame and JobMarket. The elementary functions
  // and the Merkle lists are left.
  legacy: {
    contracts: [
      "contracts/verifier/Elementary.sol",
      "contracts/test/ElementaryHarness.sol",
      "contracts/test/MerkleHarness.sol",
    ],
    tests: ["test/contracts/verifier/elementary.test.ts", "test/contracts/merkle/positionalMerkle.test.ts"],
    solidityTests: false,
  },
};

/** @param flags Of `hardhat build`. */
function compile(name: BuildName, flags: readonly string[]): Promise<Totals> {
  const env = { REFUTE_BUILD: name };
  return run("hardhat", ["build", "--quiet", ...flags, ...WORK[name].contracts], { env });
}

async function check(name: BuildName): Promise<Totals> {
  const { tests, solidityTests } = WORK[name];
  const env = { REFUTE_BUILD: name };
  console.log(`== build ${name}`);
  const built = await compile(name, ["--no-tests"]);
  if (built.failed > 0) return built;
  const all = [...NOT_FOR_OTHERS, ...tests];
  return solidityTests ? runAll(all, { env }) : runMocha(all, env);
}

const values = readOptions({
  only: text("one build; shipped may be named too"),
  compile: flag("compile only, for a later run"),
});
if (values.only !== undefined) buildOf(values.only);
const names = BUILD_NAMES.filter((name) => (values.only === undefined ? name !== "shipped" : name === values.only));
if (values.compile) {
  for (const name of names) {
    const { failed } = await compile(name, WORK[name].solidityTests ? [] : ["--no-tests"]);
    console.log(`build ${name}: ${failed > 0 ? "NOT compiled" : "compiled"}`);
    if (failed > 0) process.exitCode = 1;
  }
} else {
  const results: { name: BuildName; totals: Totals }[] = [];
  for (const name of names) results.push({ name, totals: await check(name) });
  for (const { name, totals } of results) console.log(`build ${name}: ${lineOf(totals)}`);
  process.exitCode = results.every(({ totals }) => isGood(totals)) ? 0 : 1;
}
