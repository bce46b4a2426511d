import { readFileSync } from "node:fs";
import { expect } from "chai";
import { BUGS } from "../../tools/verify/mutate/planted/bugs.ts";
import { withBugs } from "../../tools/verify/mutate/planted/withBugs.ts";

describe("docs/testing.md and test/golden/mutants.md", () => {
  it("plantedBugs_areThoseOfTheTool", () => {
    const log = readFileSync("test/golden/mutants.md", "utf8");
    const section = log.split(/^## /m).find((part) => part.startsWith("Planted bugs\n"))!;
    const listed = [...section.matchAll(/^- ([^.\n]+)/gm)].map(([, name]) => name!);
    expect(listed.sort()).to.deep.equal(BUGS.map(({ name }) => name).sort());
  });

  it("totals_countEveryPlantedBug", () => {
    const page = readFileSync("docs/testing.md", "utf8");
    const row = /^\| planted bugs +\| +(\d+) \|/m.exec(page)!;
    expect(Number(row[1])).to.equal(BUGS.length);
  });

  it("plantedBugs_fitIntoTheContracts", () => {
    for (const file of new Set(BUGS.map((bug) => bug.file)))
      expect(withBugs(readFileSync(file, "utf8"), file, BUGS)).to.contain("Mutants.on(");
  });
});
