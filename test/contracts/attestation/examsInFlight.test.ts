import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { ClaimStatus } from "../../../src/chain/structs.ts";
import { chainProgram, lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { deployExams, nextExam, sit } from "../../../testkit/protocol/examKit.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { attest } from "../../../testkit/protocol/reports.ts";
import { TestDevice } from "../../../testkit/protocol/testDevice.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

/** 9 steps in 3 ranges. */
const subject = chainProgram(300, [3, 1, 5]);

describe("A worker whose exams are all forged", () => {
  const world = useWorld();

  it("holdsItsClass_andIsRefutedAndSlashedAsAnyOther", async () => {
    const { market, vault, watcher, worker, parameters, manufacturer } = world();
    const { address } = worker.account;
    const device = new TestDevice(manufacturer);
    await attest(world(), address, device);
    const exams = await deployExams(world());
    // Nothing was executed: the roots are none of the program's.
    for (let k = 0; k < 12; k++)
      await sit(world(), exams, address, device, { gridBlock: await nextExam(world(), exams) });
    expect(await exams.read.classHeld([address, 0])).to.equal(true);
    const trace = lyingTrace(subject, 6, 299);
    const claim = await submitted(world(), subject, trace);
    const game = new GameDriver(world(), subject, trace, claim, watcher);
    await (await game.descend(2, 6, 299)).prove(299);
    const [status] = await market.read.claimOf([claimKey(world(), claim)]);
    expect(status).to.equal(ClaimStatus.refuted);
    const [, staked, locked] = await vault.read.accountOf([address]);
    expect([staked, locked]).to.deep.equal([10n * ETHER - parameters.collateral, 0n]);
  });

  it("classHeld_isAskedWhereAJobIsClaimedOnly", () => {
    const files = globSync("contracts/{market,vault,game,program,verifier}/**/*.sol");
    expect(files).to.have.length.above(20);
    const asking = files.filter((file) => /IExams|classHeld|classesOf/.test(readFileSync(file, "utf8")));
    expect(asking).to.deep.equal(["contracts/market/TermedClaims.sol"]);
    const text = readFileSync(asking[0]!, "utf8");
    expect(text.match(/IExams|classHeld|classesOf/g)).to.deep.equal(["classHeld"]);
    let name = "";
    const callers = [...text.matchAll(/function (\w+)\(|_requireFit\(/g)].flatMap(([, declared]) => {
      if (declared === undefined) return [name];
      name = declared;
      return [];
    });
    expect(callers).to.deep.equal(["_claimOnTerms"]);
  });
});
