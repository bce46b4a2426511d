import { readFileSync } from "node:fs";
import { withViews, Workspace } from "../../instrument/workspace.ts";
import { prepare, reachOf, SWITCH, tryOnTests, type Outcome } from "../onTests.ts";
import type { Mutant } from "../schemata.ts";
import { hasSurvived, keepVerdicts, report, withoutKnown, type Tried } from "../verdicts.ts";
import { BUGS, type Finder } from "./bugs.ts";
import { prepareSolidity, tryOnSolidity } from "./onSolidity.ts";
import { withBugs } from "./withBugs.ts";

/** The tests that must find bugs. */
const TESTS: Readonly<Record<Finder, readonly string[]>> = {
  solidity: ["League", "Protocol", "Runs", "Tickets", "ExamClaims", "Panel"].map(
    (name) => `test/contracts/solidity/${name}.t.sol`,
  ),
  mocha: [
    "contracts/attestation/tdx",
    "contracts/attestation",
    "attestation/tdx",
    "contracts/market",
    "contracts/extras/*",
    "contracts/game",
  ].map((folder) => `test/${folder}/*.test.ts`),
};

type PlantedOptions = {
  by: readonly Finder[];
  /** Words of bugs, separated by semicolons. */
  only: string;
  /** Globs for tests in place of the usual tests. */
  tests: string | undefined;
  json: string | undefined;
  resume: string | undefined;
  in: string | undefined;
};

/**
 * Puts realistic bugs into a copy of the contracts, and tries each bug on the tests that execute the bug or reach its
 * contract. A bug is a mutant with a name.
 * @returns whether all are found
 */
export async function tryPlanted(options: PlantedOptions): Promise<boolean> {
  const all = BUGS.map(({ name, file, find, finder }, index) => {
    const line = readFileSync(file, "utf8").split(find)[0]!.split("\n").length;
    return { id: index + 1, file, line, change: name, nth: 0, finder };
  });
  const words = options.only.split(";");
  const wanted = all.filter(
    ({ finder, change }) => options.by.includes(finder) && words.some((word) => change.includes(word)),
  );
  const { known, left } = withoutKnown(wanted, options.resume);
  const tried: Tried[] = [...known];
  if (left.length === 0) return report(wanted, tried);
  const over = (bug: Mutant, outcome: Outcome): void => {
    tried.push({ ...bug, ...outcome });
    console.log(hasSurvived(outcome) ? `MISSED  ${bug.change}` : `found   ${bug.change}: ${outcome.killer}`);
    keepVerdicts(options.json, tried);
  };
  const workspace = new Workspace(options.in);
  try {
    prepare(workspace);
    prepareSolidity(workspace);
    plant(workspace);
    await workspace.build();
    const testsOf = (finder: Finder) => workspace.files(options.tests ?? TESTS[finder].join(","));
    const solidity = left.filter(({ finder }) => finder === "solidity");
    if (solidity.length > 0) {
      // All of them: handlers in files that tests import are called at random only if they are built by themselves.
      await workspace.build(workspace.files("test/contracts/solidity/*.sol"));
      await tryOnSolidity(workspace, solidity, testsOf("solidity"), over);
    }
    const mocha = left.filter(({ finder }) => finder === "mocha");
    if (mocha.length > 0) {
      const files = testsOf("mocha");
      const order = { files, tries: Number.MAX_SAFE_INTEGER, all: false, reach: reachOf(workspace, files) };
      await tryOnTests(workspace, mocha, order, [], over);
    }
  } finally {
    workspace.remove();
  }
  return report(wanted, tried);
}

/** Puts all bugs into the contracts of a copy. */
function plant(workspace: Workspace): void {
  for (const file of new Set(BUGS.map((bug) => bug.file))) {
    workspace.writeContract(file, withViews(withBugs(readFileSync(file, "utf8"), file, BUGS)), SWITCH);
  }
}
