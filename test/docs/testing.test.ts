import { readFileSync } from "node:fs";
import { expect } from "chai";
import { withBugs } from "../../tools/verify/planted/apply.ts";
import { BUGS, SIGNED_BUGS } from "../../tools/verify/planted/bugs.ts";

const ALL = [...BUGS, ...SIGNED_BUGS];

describe("docs/testing.md", () => {
  it("plantedBugs_areThoseOfTheTool", () => {
    const page = readFileSync("docs/testing.md", "utf8");
    const section = page.split(/^## /m).find((part) => part.startsWith("Planted bugs\n"))!;
    const listed = [...section.matchAll(/^- ([^.\n]+)/gm)].map(([, name]) => name!);
    expect(listed.sort()).to.deep.equal(ALL.map(({ name }) => name).sort());
  });

  it("plantedBugs_fitIntoTheContracts", () => {
    for (const bugs of [BUGS, SIGNED_BUGS])
      for (const file of new Set(bugs.map((bug) => bug.file)))
        expect(withBugs(readFileSync(file, "utf8"), file, bugs)).to.contain("Planted.on(");
  });
});
