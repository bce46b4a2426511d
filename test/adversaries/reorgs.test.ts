import { expect } from "chai";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { disturbedPoints } from "../../testkit/disturbances/reorgs.ts";
import { soakReorgs } from "../../tools/verify/soak/reorgs.ts";

/** Of the twenty after each point; `npm run soak -- --reorgs` plays them all. */
const DEPTHS = 1;

/** Each function once, in the first scenario that calls it; at length in each scenario, each time. */
function pointsOnce(): (calls: readonly string[]) => number[] {
  const seen = new Set<string>();
  return (calls) => disturbedPoints(calls).filter((at) => AT_LENGTH || seen.size < seen.add(calls[at]!).size);
}

describe("reorganisations", function () {
  this.timeout(600_000);

  it("of1To20Blocks_afterEachFunction_changeNoVerdict_andCostNobodyHonest", async function () {
    const totals = await soakReorgs(DEPTHS, undefined, pointsOnce());
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    const calls =
      "post claim submit open expand pick reveal prove timeout concede settle deliver finalise collect cancel";
    expect([...totals.points.keys()]).to.include.members([...calls.split(" "), "the end"]);
    expect(totals.deepest).to.equal(20);
    console.log(totals.report());
  });
});
