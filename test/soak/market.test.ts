import { expect } from "chai";
import { soakMarket } from "../../tools/verify/soak/market.ts";

describe("soak of a market", function () {
  it("randomDeals_noLieIsFinalWhereSomebodyLooks_andNobodyHonestLoses", async function () {
    const totals = await soakMarket(24, 20_261_125);
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    expect(totals.wrongFinal).to.equal(0);
    expect(totals.honestLoss).to.equal(0n);
    expect(totals.requests).to.be.at.least(1);
    expect(totals.panels.size).to.be.at.least(1);
    expect(totals.jobs).to.be.at.least(24);
  });
});
