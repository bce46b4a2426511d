import { expect } from "chai";
import { AT_LENGTH } from "../../testkit/atLength.ts";
import { soakGames } from "../../tools/verify/soak/games.ts";

const GAMES = AT_LENGTH ? 100 : 50;

describe("soak of disputes", function () {
  it("randomGames_everyVerdictIsRight_andNobodyHonestLoses", async function () {
    const totals = await soakGames(GAMES, 20_251_122);
    expect(totals.wrong, totals.report()).to.deep.equal([]);
    expect(totals.honestLoss).to.equal(0n);
    expect(totals.games).to.be.at.least(GAMES);
    // Every kind of ending was met.
    for (const how of ["prove", "timeout", "concede"]) {
      expect(
        [...totals.verdicts.keys()].some((key) => key.endsWith(`refuted by ${how}`)),
        how,
      ).to.equal(true);
    }
  });
});
