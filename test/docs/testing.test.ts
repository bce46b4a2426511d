import { readFileSync } from "node:fs";
import { expect } from "chai";
import { withBugs } from "../../tools/verify/planted/apply.ts";
import { BUGS, SIGNED_BUGS } from "../../tools/verify/planted/bugs.ts";

const ALL = [...BUGS, ...SIGNED_BUGS];

describe("docs/testing.md and test/golden/mutants.md", () => {
  it("plantedBugs_areThoseOfTheTool", () => {
    const log = readFileSync("test/golden/mutants.md", "utf8");
    const section = log.split(/^## /m).find((part) => part.startsWith("Planted bugs\n"))!;
    const listed = [...section.matchAll(/^- ([^.\n]+)/gm)].map(([, name]) => name!);
    expect(listed.sort()).to.deep.equal(ALL.map(({ name }) => name).sort());
  });

  it("totals_countEveryPlantedBug", () => {
    const page = readFileSync("docs/testing.md", "utf8");
    const row = /^\| planted bugs +\| +(\d+) \|/m.exec(page)!;
    expect(Number(row[1])).to.equal(ALL.length);
    for (const [by, bugs] of [
      ["solidity", BUGS],
      ["mocha", SIGNED_BUGS],
    ] as const)
      expect(page).to.match(new RegExp(`--by ${by}\`, ${bugs.length} bugs`));
  });

  it("plantedBugs_fitIntoTheContracts", () => {
    for (const bugs of [BUGS, SIGNED_BUGS])
      for (const file of new Set(bugs.map((bug) => bug.file)))
        expect(withBugs(readFileSync(file, "utf8"), file, bugs)).to.contain("Planted.on(");
  });
});
