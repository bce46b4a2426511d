import { expect } from "chai";
import { bytesToHex, type Hex } from "viem";
import {
  deliveryFor,
  nodesOf,
  postProvable,
  proofFor,
  provable,
  type Provable,
} from "../../../testkit/circuits/provenJobs.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";

describe("CreditScore", () => {
  const world = useWorld();
  let network: Provable;
  before(async () => {
    network = await provable([8, 4, 1]);
  });

  /** The dapp, for a program and a key. */
  const deployed = (keyHash: Hex, programRoot = network.model.programRoot) => {
    const { viem, market, requester } = world();
    return viem.deployContract("CreditScore", [market.address, programRoot, keyHash, requester.account.address]);
  };

  it("scoreIsTaken_onceProven_forTheApplicantOfTheFigures", async () => {
    const { market, worker, requester, mallory } = world();
    const dapp = await deployed(network.keyHash);
    const { job, terms, claim, context } = await postProvable(world(), network);
    const applicant = mallory.account.address;
    const take = () => refusalOf(dapp.write.take([claim, terms, deliveryFor(network)]));
    expect(await take()).to.include("UnknownFigures");
    const enter = [job.inputsRoot, applicant] as const;
    expect(await refusalOf(dapp.write.enter(enter, { account: mallory.account }))).to.include("NotRegistry");
    await dapp.write.enter(enter, { account: requester.account });
    expect(await take()).to.include("WrongClaimStatus");
    const call = [job, terms, nodesOf(network), proofFor(network, context)] as const;
    await market.write.claimAndProve([...call], { account: worker.account });
    expect(await take()).to.equal("accepted");
    expect(await dapp.read.scoreOf([applicant])).to.equal(bytesToHex(network.outputs[0]!));
    // Other pairs of program and key.
    const others = [deployed(`0x${"11".repeat(32)}`), deployed(network.keyHash, `0x${"22".repeat(32)}`)];
    for (const [k, other] of (await Promise.all(others)).entries()) {
      await other.write.enter(enter, { account: requester.account });
      const refused = await refusalOf(other.write.take([claim, terms, deliveryFor(network)]));
      expect(refused).to.include(k === 0 ? "WrongKey" : "OtherProgram");
    }
  });
});
