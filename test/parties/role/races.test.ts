import { expect } from "chai";
import { pino } from "pino";
import { ContractRevertError, TransactionRevertedError } from "../../../src/chain/errors.ts";
import { Races } from "../../../src/parties/role/races.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("Races", function () {
  const logged: { level: number; code?: string; transactionHash?: string }[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]) });
  beforeEach(() => void logged.splice(0));
  const refused = new ContractRevertError("claim", "NotOpen", []);
  const fail = (error: Error) => () => Promise.reject(error);

  it("firstRefusal_isLoggedAsInformation_andTheSameAgainIsThrown", async function () {
    const races = new Races(log);
    await races.run("claiming", "0x1", fail(refused));
    await races.run("claiming", "0x2", fail(refused));
    expect(logged.map(({ level, code }) => [level, code])).to.deep.equal([
      [30, "CONTRACT_REVERT"],
      [30, "CONTRACT_REVERT"],
    ]);
    expect(await rejection(races.run("claiming", "0x1", fail(refused)))).to.equal(refused);
  });

  it("refusalAfterASuccess_orWithOtherWords_isAnotherRace", async function () {
    const races = new Races(log);
    await races.run("game", "0x1", fail(refused));
    await races.run("game", "0x1", () => Promise.resolve());
    await races.run("game", "0x1", fail(refused));
    await races.run("game", "0x1", fail(new ContractRevertError("reveal", "StaleState", [])));
    await races.run("game", "0x1", fail(new TransactionRevertedError("reveal", "0xab")));
    expect(logged).to.have.length(4);
    expect(logged.at(-1)).to.include({ transactionHash: "0xab" });
    expect(await rejection(races.run("game", "0x1", fail(new TransactionRevertedError("reveal", "0xcd"))))).to.include({
      transactionHash: "0xcd",
    });
  });

  it("otherErrors_areThrown", async function () {
    const defect = new TypeError("a defect");
    expect(await rejection(new Races(log).run("game", "0x1", fail(defect)))).to.equal(defect);
  });
});
