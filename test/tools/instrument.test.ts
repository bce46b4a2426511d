import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { withPoints } from "../../tools/verify/coverage/points.ts";
import { withViews } from "../../tools/verify/instrument/workspace.ts";
import { withMutants } from "../../tools/verify/mutate/schemata.ts";

/** A file whose functions define operators: the compiler asks that these functions are pure. */
const OPERATORS = "contracts/types/Ids.sol";

describe("code added to contracts", () => {
  it("functionsThatDefineOperators_stayAsTheyAre", () => {
    const source = readFileSync(OPERATORS, "utf8");
    expect(source).to.match(/^using \{\w+ as ==\}/m);
    expect(withViews(source)).to.equal(source);
    expect(withPoints(OPERATORS, source, 1)).to.deep.equal({ source, points: [] });
    expect(withMutants(OPERATORS, source, 1, new Set(), () => true)).to.deep.equal({ source, mutants: [] });
  });

  it("mutantsOfEqualIdentifiers_compile", () => {
    const body = "contract C { function f(JobId a, JobId b) pure returns (bool) { return a == b; } }";
    const { source, mutants } = withMutants("F.sol", body, 1, new Set(), () => true);
    expect(mutants.map(({ change }) => change)).to.deep.equal(["a == b -> !="]);
    expect(source).to.contain("(!((a) == (b)))").and.not.to.contain("!=");
  });

  it("functionsOfContracts_mayReadTheChain", () => {
    for (const file of globSync("contracts/**/*.sol")) {
      const changed = withViews(readFileSync(file, "utf8"));
      for (const [head] of changed.matchAll(/^ +function [^{;]*/gm)) expect(head, file).not.to.match(/\bpure\b/);
    }
  });
});
