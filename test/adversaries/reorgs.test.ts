import { expect } from "chai";
import { soakReorgs } from "../../tools/verify/soak/reorgs.ts";

/** Of the twenty after each point; `npm run verify -- soak --reorgs` plays them all. */
const DEPTHS = 1;

describe("reorganisations", function () {
  this.timeout(1_800_000);

  it("of1To20Blocks_afterEachFunction_changeNoVerdict_andCostNobodyHonest", async function () {
    const totals = await soakReorgs(DEPTHS);
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    const calls =
      "post claim submit open expand pick reveal prove timeout concede settle deliver finalise collect cancel";
    expect([...totals.points.keys()]).to.include.members(["the end", ...calls.split(" ")]);
    expect(totals.deepest).to.equal(20);
    console.log(totals.report());
  });
});
