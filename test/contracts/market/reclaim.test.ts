import { expect } from "chai";
import { isAddressEqual } from "viem";
import { JobStatus } from "../../../src/chain/structs.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { chainProgram, honestTrace, lyingTrace } from "../../../testkit/protocol/chainProgram.ts";
import { delivery, marketKit, smallProgram } from "../../../testkit/protocol/marketKit.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, creditOf, jobId, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const WINDOW = 1_800;
const WEEK = 7 * 86_400;

describe("JobMarket: a fee that nobody delivers for", () => {
  const world = useWorld();
  const { revert, as, statusOf, pass, finalised } = marketKit(world);
  const finalSince = async (claim: Parameters<typeof claimKey>[1]): Promise<bigint> =>
    (await world().market.read.claimOf([claimKey(world(), claim)]))[1];

  it("wrongClaim_thatNobodyDisputed_givesTheFeeBackAfterAWeek", async () => {
    const { market, vault, requester, viem } = world();
    const claim = await submitted(world(), smallProgram, lyingTrace(smallProgram, 2, 5));
    const before = await creditOf(world(), requester);
    await pass(WINDOW + 1);
    // The requester cannot show an output that the trace does not hold.
    await revert(market.write.deliver([claim, delivery()]), "OutputNotInClaim");
    await revert(market.write.reclaim([claim], as("mallory")), "WrongClaimStatus");
    await market.write.finalise([claim]);
    await revert(market.write.reclaim([claim], as("mallory")), "TimeNotUp");
    await pass(WEEK);
    await viem.assertions.emitWithArgs(market.write.reclaim([claim], as("mallory")), market, "FeeReturned", [
      jobId(world(), claim.job),
      claimId(world(), claim),
      claim.job.requester,
      ETHER,
    ]);
    expect((await creditOf(world(), requester)) - before).to.equal(ETHER);
    expect(await statusOf(claim.job)).to.equal(JobStatus.finalised);
    expect(await vault.read.custody()).to.equal(0n);
  });

  it("reclaim_isPossibleFromTheSecondAfterTheWeek", async () => {
    const { market, networkHelpers } = world();
    const claim = await finalised();
    const until = (await finalSince(claim)) + BigInt(WEEK);
    await networkHelpers.time.setNextBlockTimestamp(until);
    await revert(market.write.reclaim([claim]), "TimeNotUp");
    await networkHelpers.time.setNextBlockTimestamp(until + 1n);
    await market.write.reclaim([claim]);
  });

  it("reclaim_twice_orAfterThePayment_reverts", async () => {
    const { market } = world();
    const claim = await finalised();
    await pass(WEEK);
    await market.write.reclaim([claim]);
    await revert(market.write.reclaim([claim]), "AlreadyPaid");
    await revert(market.write.accept([claim], as("requester")), "AlreadyPaid");
  });

  it("reclaim_afterAcceptOrDelivery_reverts", async () => {
    const { market, networkHelpers } = world();
    const claim = await finalised();
    const before = await networkHelpers.takeSnapshot();
    await market.write.accept([claim], as("requester"));
    await pass(WEEK);
    await revert(market.write.reclaim([claim]), "AlreadyPaid");
    await before.restore();
    await market.write.deliver([claim, delivery()]);
    await pass(WEEK);
    await revert(market.write.reclaim([claim]), "AlreadyPaid");
  });

  it("outputs_canBeDeliveredAfterwards_withoutAFee", async () => {
    const { market, worker, requester } = world();
    const two = chainProgram(300, [3, 1, 2], [2, 1]);
    const claim = await finalised({}, two);
    const before = [await creditOf(world(), worker), await creditOf(world(), requester)];
    await market.write.deliver([claim, delivery(two, 0)]);
    await pass(WEEK);
    await market.write.reclaim([claim]);
    await market.write.deliver([claim, delivery(two, 1)]);
    expect(await statusOf(claim.job)).to.equal(JobStatus.complete);
    await revert(market.write.reclaim([claim]), "AlreadyPaid");
    expect([await creditOf(world(), worker), await creditOf(world(), requester)]).to.deep.equal([
      before[0],
      before[1]! + ETHER,
    ]);
  });

  it("claim_withNothingToDeliver_keepsItsFee", async () => {
    const { market } = world();
    const claim = await submitted(world(), smallProgram, honestTrace(smallProgram), { maxOutputBytes: 0 });
    await pass(WINDOW + 1);
    await market.write.finalise([claim]);
    await pass(WEEK);
    await revert(market.write.reclaim([claim]), "NothingToDeliver");
  });

  it("reclaim_ofAJobWithoutAFee_movesNothingInTheVault", async () => {
    const { market, viem } = world();
    const claim = await finalised({ fee: 0n });
    await pass(WEEK);
    const client = await viem.getPublicClient();
    const { logs } = await client.getTransactionReceipt({ hash: await market.write.reclaim([claim]) });
    expect(logs.map(({ address }) => isAddressEqual(address, market.address))).to.deep.equal([true]);
  });

  it("reclaim_whileAGameIsOpen_orOfARefutedClaim_reverts", async () => {
    const { market } = world();
    const trace = honestTrace(smallProgram);
    const claim = await submitted(world(), smallProgram, trace);
    const game = new GameDriver(world(), smallProgram, trace, claim);
    await game.open();
    await pass(WINDOW + WEEK + 1);
    await revert(market.write.reclaim([claim]), "WrongClaimStatus");
    await game.timeout(world().mallory);
    await revert(market.write.reclaim([claim]), "WrongClaimStatus");
  });
});
