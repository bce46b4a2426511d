import { expect } from "chai";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { disturbedPoints } from "../../testkit/disturbances/reorgs.ts";
import { soakReorgs } from "../../tools/verify/soak/reorgs.ts";

/** Of the twenty after each point; `npm run verify -- soak --reorgs` plays them all. */
const DEPTHS = 1;

/** Every fourth function once, in the first scenario that calls it; at length all, in each scenario, each time. */
function pointsOnce(): (calls: readonly string[]) => number[] {
  const seen = new Set<string>();
  return (calls) => {
    const met = disturbedPoints(calls).filter((at) => AT_LENGTH || seen.size < seen.add(calls[at]!).size);
    return met.filter((_, k) => AT_LENGTH || k % 4 === 0);
  };
}

describe("reorganisations", function () {
  this.timeout(1_800_000);

  it("of1To20Blocks_afterEachFunction_changeNoVerdict_andCostNobodyHonest", async function () {
    const totals = await soakReorgs(DEPTHS, undefined, pointsOnce());
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    expect([...totals.points.keys()])
      .to.include("the end")
      .and.to.have.length.of.at.least(4);
    if (AT_LENGTH) {
      const calls =
        "post claim submit open expand pick reveal prove timeout concede settle deliver finalise collect cancel";
      expect([...totals.points.keys()]).to.include.members(calls.split(" "));
      expect(totals.deepest).to.equal(20);
    }
    console.log(totals.report());
  });
});
