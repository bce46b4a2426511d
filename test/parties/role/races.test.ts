import { expect } from "chai";
import { pino } from "pino";
import { ContractRevertError, TransactionRevertedError } from "../../../src/chain/errors.ts";
import { ClaimStatus, JobStatus } from "../../../src/chain/structs.ts";
import { Races } from "../../../src/parties/role/races.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("Races", function () {
  const logged: { level: number; code?: string; transactionHash?: string }[] = [];
  const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]) });
  beforeEach(() => void logged.splice(0));
  const refused = new ContractRevertError("claim", "NotOpen", []);
  const fail = (error: Error) => () => Promise.reject(error);

  it("firstRefusal_isLoggedAsInformation_andTheSameFromALaterBlockIsThrown", async function () {
    const races = new Races(log);
    await races.run("claiming", "0x1", 7n, fail(refused));
    await races.run("claiming", "0x2", 7n, fail(refused));
    // The same snapshot asks again: nothing is known anew.
    await races.run("claiming", "0x1", 7n, fail(refused));
    expect(logged.map(({ level, code }) => [level, code])).to.deep.equal([
      [30, "CONTRACT_REVERT"],
      [30, "CONTRACT_REVERT"],
    ]);
    expect(await rejection(races.run("claiming", "0x1", 8n, fail(refused)))).to.equal(refused);
  });

  it("refusalAfterASuccess_orWithOtherWords_isAnotherRace", async function () {
    const races = new Races(log);
    await races.run("game", "0x1", 1n, fail(refused));
    await races.run("game", "0x1", 2n, () => Promise.resolve());
    await races.run("game", "0x1", 3n, fail(refused));
    await races.run("game", "0x1", 4n, fail(new ContractRevertError("reveal", "StaleState", [])));
    await races.run("game", "0x1", 5n, fail(new TransactionRevertedError("reveal", "0xab")));
    expect(logged).to.have.length(4);
    expect(logged.at(-1)).to.include({ transactionHash: "0xab" });
    const again = races.run("game", "0x1", 6n, fail(new TransactionRevertedError("reveal", "0xcd")));
    expect(await rejection(again)).to.include({ transactionHash: "0xcd" });
  });

  const { submitted, finalised, refuted } = ClaimStatus;
  for (const done of [
    new ContractRevertError("finalise", "WrongClaimStatus", ["0xab", finalised, submitted]),
    new ContractRevertError("deliver", "AlreadyDelivered", ["0xab", 0n]),
    new ContractRevertError("deliver", "WrongClaimStatus", ["0xab", refuted, finalised]),
    new ContractRevertError("submit", "WrongJobStatus", ["0xab", JobStatus.submitted, JobStatus.claimed]),
    new ContractRevertError("expire", "WrongJobStatus", ["0xab", JobStatus.open, JobStatus.claimed]),
    new ContractRevertError("openSeal", "WrongJobStatus", ["0xab", JobStatus.submitted, JobStatus.sealed]),
    new ContractRevertError("open", "GameExists", ["0xab"]),
    new ContractRevertError("collect", "NothingEarned", ["0xab"]),
  ])
    it(`${done.functionName}_refusedBy${done.errorName}AgainAndAgain_isDone_andLoggedOnce`, async function () {
      const races = new Races(log);
      for (const block of [1n, 2n, 3n]) await races.run("claim", "0x1", block, fail(done));
      expect(logged.map(({ level }) => level)).to.deep.equal([30]);
    });

  it("statusBeforeTheNeededStatus_isNotDone", async function () {
    const early = new ContractRevertError("submit", "WrongJobStatus", ["0xab", JobStatus.open, JobStatus.claimed]);
    const races = new Races(log);
    await races.run("job", "0x1", 1n, fail(early));
    expect(await rejection(races.run("job", "0x1", 2n, fail(early)))).to.equal(early);
  });

  it("otherErrors_areThrown", async function () {
    const defect = new TypeError("a defect");
    expect(await rejection(new Races(log).run("game", "0x1", 1n, fail(defect)))).to.equal(defect);
  });
});
