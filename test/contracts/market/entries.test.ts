import { expect } from "chai";
import { delivery, marketKit } from "../../../testkit/protocol/marketKit.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { vaultEntries } from "../../../testkit/protocol/vaultEntries.ts";
import { jobId } from "../../../testkit/protocol/world.ts";
import { ETHER, SINK } from "../../../testkit/protocol/deployWorld.ts";

/** Every entry is for money that moves, once, to whom it belongs: nothing is written for an amount of zero. */
describe("JobMarket: what it has the vault write", () => {
  const world = useWorld();
  const { as, post, pass, finalised } = marketKit(world);

  const entries = () => vaultEntries(world());
  const closed = async () => (await world().market.getEvents.JobClosed()).map(({ args }) => args);

  it("jobWithoutFee_writesNothing_butWhatBacksItsClaim", async () => {
    const { market, worker, parameters } = world();
    const job = await post({ fee: 0n });
    expect(await entries()).to.deep.equal([]);
    await market.write.cancel([job], as("requester"));
    expect(await entries()).to.deep.equal([]);
    const claim = await finalised({ fee: 0n });
    expect(await entries()).to.deep.equal([["Unlocked", worker.account.address, parameters.collateral]]);
    await market.write.deliver([claim, delivery()]);
    expect(await entries()).to.deep.equal([]);
  });

  it("cancel_givesTheFeeBack_inOneEntry", async () => {
    const { market, requester } = world();
    const job = await post();
    expect(await entries()).to.deep.equal([["Taken", requester.account.address, ETHER]]);
    await market.write.cancel([job], as("requester"));
    expect(await entries()).to.deep.equal([["Given", requester.account.address, ETHER]]);
  });

  it("expire_byTheRequester_isNotRewarded", async () => {
    const { market, requester } = world();
    const job = await post();
    await pass(86_400);
    await market.write.expire([job], as("requester"));
    expect(await entries()).to.deep.equal([["Given", requester.account.address, ETHER]]);
    expect(await closed()).to.deep.equal([{ jobId: jobId(world(), job), refund: ETHER }]);
  });

  it("expire_forAFeeBelowTheReward_leavesNothingForTheRequester", async () => {
    const { market, mallory } = world();
    const job = await post({ fee: 5n });
    await pass(86_400);
    await market.write.expire([job], as("mallory"));
    expect(await entries()).to.deep.equal([["Given", mallory.account.address, 5n]]);
    expect(await closed()).to.deep.equal([{ jobId: jobId(world(), job), refund: 0n }]);
  });

  it("expire_byTheLateWorker_givesItsPenaltyToTheSinkAlone", async () => {
    const { market, worker, parameters } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    await pass(601);
    await market.write.expire([job], as("worker"));
    const penalty = parameters.collateral / 20n;
    expect(await entries()).to.deep.equal([
      ["Slashed", worker.account.address, penalty],
      ["Unlocked", worker.account.address, parameters.collateral - penalty],
      ["Given", SINK.toLowerCase(), penalty],
    ]);
  });
});
