import { expect } from "chai";
import { bytesToHex, zeroHash, type Hex } from "viem";
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

  /** The dapp, for a key. */
  const deployed = (keyHash: Hex) => {
    const { viem, market, requester } = world();
    return viem.deployContract("CreditScore", [market.address, keyHash, requester.account.address]);
  };

  it("scoreIsTaken_onceProven_forWhoeverHasTheFiguresNow", async () => {
    const { market, worker, requester, mallory, watcher } = world();
    const dapp = await deployed(network.keyHash);
    const { job, terms, claim, context } = await postProvable(world(), network);
    const applicant = mallory.account.address;
    const delivery = deliveryFor(network);
    const take = (of = applicant, changes: Partial<typeof delivery> = {}) =>
      refusalOf(dapp.write.take([of, claim, terms, { ...delivery, ...changes }]));
    const enter = (root: Hex, by = requester, of = applicant) =>
      refusalOf(dapp.write.enter([of, root], { account: by.account }));
    expect(await take()).to.include("OtherFigures");
    expect(await enter(job.inputsRoot, mallory)).to.include("NotRegistry");
    expect(await enter(job.inputsRoot)).to.equal("accepted");
    expect(await take()).to.include("WrongClaimStatus");
    const call = [job, terms, nodesOf(network), proofFor(network, context)] as const;
    await market.write.claimAndProve([...call], { account: worker.account });
    expect(await take(applicant, { output: 1 })).to.include("OtherOutput");
    expect(await take()).to.equal("accepted");
    expect(await dapp.read.scoreOf([applicant])).to.equal(bytesToHex(network.outputs[0]!));
    // Somebody with the same figures has the same score, and takes it from nobody.
    const twin = watcher.account.address;
    expect(await take(twin)).to.include("OtherFigures");
    await enter(job.inputsRoot, requester, twin);
    expect(await take(twin)).to.equal("accepted");
    expect(await dapp.read.scoreOf([applicant])).to.equal(await dapp.read.scoreOf([twin]));
    // With other figures, the score of the old ones is gone, and the old claim does not bring it back.
    await enter(`0x${"33".repeat(32)}`);
    expect(await dapp.read.scoreOf([applicant])).to.equal("0x");
    expect(await take()).to.include("OtherFigures");
    await enter(zeroHash);
    expect(await take()).to.include("OtherFigures");
  });

  it("claimUnderAnotherKey_isRefused", async () => {
    const { market, worker, requester, mallory } = world();
    const dapp = await deployed(`0x${"11".repeat(32)}`);
    const { job, terms, claim, context } = await postProvable(world(), network);
    await dapp.write.enter([mallory.account.address, job.inputsRoot], { account: requester.account });
    const call = [job, terms, nodesOf(network), proofFor(network, context)] as const;
    await market.write.claimAndProve([...call], { account: worker.account });
    const take = dapp.write.take([mallory.account.address, claim, terms, deliveryFor(network)]);
    expect(await refusalOf(take)).to.include("WrongKey");
  });
});
