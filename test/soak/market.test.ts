import { expect } from "chai";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { Totals } from "../../testkit/soak/totals.ts";
import { playChain } from "../../tools/verify/soak/market.ts";

const DEALS = AT_LENGTH ? 24 : 8;

describe("soak of a market", function () {
  it("randomDeals_noLieIsFinalWhereSomebodyLooks_andNobodyHonestLoses", async function () {
    const totals = await playChain(20_261_125, DEALS);
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    expect(totals.wrongFinal).to.equal(0);
    expect(totals.honestLoss).to.equal(0n);
    expect(totals.requests).to.be.at.least(1);
    expect(totals.panels.size).to.be.at.least(1);
    expect(totals.jobs).to.be.at.least(DEALS - 4);
    // What is kept of a chain is all that was counted.
    const sum = new Totals();
    sum.add(Totals.parse(totals.toJson()));
    expect(sum.report()).to.equal(totals.report());
  });
});
