import { expect } from "chai";
import { soakGames } from "../../tools/verify/soak/games.ts";

describe("soak of disputes", function () {
  it("randomGames_everyVerdictIsRight_andNobodyHonestLoses", async function () {
    const totals = await soakGames(100, 20_251_121);
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    expect(totals.honestLoss).to.equal(0n);
    expect(totals.games).to.be.at.least(100);
    // Every kind of ending was met.
    for (const how of ["prove", "timeout", "concede"]) {
      expect(
        [...totals.verdicts.keys()].some((key) => key.endsWith(`refuted by ${how}`)),
        how,
      ).to.equal(true);
    }
  });
});
