import { expect } from "chai";
import { readFileSync } from "node:fs";
import { inTime, itInTime } from "../../testkit/atLength.ts";
import { CATALOGUE, LARGE } from "../../testkit/models/catalogue.ts";
import { PROGRAM_ROOTS, rootOf } from "../../testkit/models/programRoots.ts";

const committed = JSON.parse(readFileSync(PROGRAM_ROOTS, "utf8")) as Record<string, string>;

// Jobs name program roots: a compiler that gives another root for the same model serves none of them.
describe("program roots", function () {
  this.timeout(120_000);

  itInTime("everyModel_hasARoot", () => {
    expect(Object.keys(committed)).to.deep.equal([...CATALOGUE, ...LARGE].map(({ name }) => name));
  });

  for (const model of inTime([...CATALOGUE, ...LARGE]))
    it(`${model.name}_compilesToTheCommittedRoot`, () => expect(rootOf(model)).to.equal(committed[model.name]));
});
