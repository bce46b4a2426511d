import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import { JobStatus } from "../../../src/chain/structs.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { marketKit, SUBMITTED_NODES, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { chainProgram, honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { freeze } from "../../../testkit/protocol/reports.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { creditOf } from "../../../testkit/protocol/world.ts";
import { ETHER, SINK } from "../../../testkit/protocol/deployWorld.ts";

describe("JobMarket: claim and submit", () => {
  const world = useWorld();
  const { revert, vaultRevert, gameRevert, as, post, statusOf, pass } = marketKit(world);

  it("claim_locksCollateral", async () => {
    const { market, vault, worker, parameters } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(parameters.collateral);
    await revert(market.write.claim([job], as("worker")), "WrongJobStatus");
  });

  it("claim_withoutAttestationOrStake_reverts", async () => {
    const { market, vault } = world();
    const job = await post();
    await revert(market.write.claim([job], as("mallory")), "NotLive");
    await vault.write.requestWithdraw([9n * ETHER], as("worker"));
    await vaultRevert(market.write.claim([job], as("worker")), "InsufficientFreeStake");
  });

  it("claim_unknownJob_reverts", async () => {
    const job = await post();
    await revert(world().market.write.claim([{ ...job, fee: job.fee + 1n }], as("worker")), "WrongJobStatus");
  });

  it("claim_tooLateForTheDeadline_reverts", async () => {
    const job = await post();
    await pass(86_400 - 500);
    await revert(world().market.write.claim([job], as("worker")), "DeadlineTooSoon");
  });

  it("submit_zeroRootWrongWorkerLateOrTwice_reverts", async () => {
    const { market } = world();
    const job = await post();
    await revert(market.write.submit([job, SUBMITTED_NODES], as("worker")), "WrongJobStatus");
    await market.write.claim([job], as("worker"));
    await gameRevert(market.write.submit([job, zeroHash], as("worker")), "WrongDataLength");
    await revert(market.write.submit([job, SUBMITTED_NODES], as("mallory")), "NotWorker");
    const late = await world().networkHelpers.takeSnapshot();
    await pass(700);
    await revert(market.write.submit([job, SUBMITTED_NODES], as("worker")), "TimeIsUp");
    await late.restore();
    await market.write.submit([job, SUBMITTED_NODES], as("worker"));
    await revert(market.write.submit([job, SUBMITTED_NODES], as("worker")), "WrongJobStatus");
  });

  it("submit_nodesThatAreNoTrace_reverts", async () => {
    const { market } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    const submit = (nodes: Hex) => market.write.submit([job, nodes], as("worker"));
    await gameRevert(submit(`${SUBMITTED_NODES}${"00".repeat(32)}`), "WrongDataLength");
    await gameRevert(submit("0x"), "WrongDataLength");
    // Three checkpoints: the fourth node is padding.
    await gameRevert(submit(`${SUBMITTED_NODES.slice(0, -64)}${OTHER_ROOT.slice(2)}` as Hex), "PaddingNotZero");
    // Eight nodes two levels above 17 checkpoints: five of them hold one.
    const wide = chainProgram(4, new Array<number>(17).fill(1));
    const job17 = await post({}, wide);
    await market.write.claim([job17], as("worker"));
    const nodes = submissionOf(honestTrace(wide).list, 4);
    const withNode = (k: number): Hex =>
      `0x${nodes.slice(2, 2 + 64 * k)}${OTHER_ROOT.slice(2)}${nodes.slice(66 + 64 * k)}`;
    for (const k of [5, 6, 7])
      await gameRevert(market.write.submit([job17, withNode(k)], as("worker")), "PaddingNotZero");
    await market.write.submit([job17, withNode(4)], as("worker"));
    const single = chainProgram(8, [3]);
    const one = await post({}, single);
    await market.write.claim([one], as("worker"));
    await revert(market.write.submit([one, zeroHash], as("worker")), "ZeroClaimRoot");
  });

  it("submit_attestationLapsed_accepted", async () => {
    const { market, manufacturer } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    await freeze(world(), manufacturer);
    await market.write.submit([job, SUBMITTED_NODES], as("worker"));
    expect(await statusOf(job)).to.equal(JobStatus.submitted);
  });
});

describe("JobMarket: expire and cancel", () => {
  const world = useWorld();
  const { revert, as, post, statusOf, pass } = marketKit(world);

  it("expire_missedSubmission_freesTheJobAndCostsTheWorker", async () => {
    const { market, vault, worker, parameters } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    await revert(market.write.expire([job]), "TimeNotUp");
    await pass(601);
    await market.write.expire([job], as("mallory"));
    expect(await market.getEvents.JobOpened()).to.have.length(1);
    const penalty = parameters.collateral / 20n;
    expect((await vault.read.accountOf([worker.account.address])).slice(1, 3)).to.deep.equal([
      10n * ETHER - penalty,
      0n,
    ]);
    const reward = (await creditOf(world(), world().mallory)) - 20n * ETHER;
    expect(reward > 0n && reward <= 100_000n * parameters.priceCap, String(reward)).to.equal(true);
    expect((await vault.read.accountOf([SINK]))[0]).to.equal(penalty - reward);
    expect(await statusOf(job)).to.equal(JobStatus.open);
    await market.write.claim([job], as("worker"));
  });

  it("expire_noTimeLeft_refunds", async () => {
    const { market, requester } = world();
    const job = await post({ claimSeconds: 80_000 });
    await market.write.claim([job], as("worker"));
    await pass(80_001);
    await market.write.expire([job]);
    expect(await market.getEvents.JobOpened()).to.have.length(0);
    expect(await statusOf(job)).to.equal(JobStatus.closed);
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER);
    await revert(market.write.expire([job]), "WrongJobStatus");
  });

  it("expire_unclaimedJob_onlyAfterItsTime", async () => {
    const { market, requester, parameters } = world();
    const job = await post();
    await revert(market.write.expire([job]), "TimeNotUp");
    await pass(86_400);
    await market.write.expire([job], as("mallory"));
    const reward = (await creditOf(world(), world().mallory)) - 20n * ETHER;
    expect(reward > 0n && reward <= 100_000n * parameters.priceCap, String(reward)).to.equal(true);
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER - reward);
  });

  it("expire_byTheLateWorkerOrTheRequester_paysNoReward", async () => {
    const { market, vault, requester, parameters } = world();
    const late = await post();
    await market.write.claim([late], as("worker"));
    await pass(601);
    await market.write.expire([late], as("worker"));
    expect((await vault.read.accountOf([SINK]))[0]).to.equal(parameters.collateral / 20n);
    await pass(86_400);
    await market.write.expire([late], as("requester"));
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER);
  });

  it("expire_ofASmallFee_paysNoMoreThanTheFee", async () => {
    const { market, requester } = world();
    const job = await post({ fee: 5n });
    await pass(86_400);
    await market.write.expire([job], as("mallory"));
    expect(await creditOf(world(), world().mallory)).to.equal(20n * ETHER + 5n);
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER - 5n);
  });

  it("cancel_byRequesterWhileUnclaimed_refunds", async () => {
    const { market, requester } = world();
    const job = await post();
    await revert(market.write.cancel([job], as("mallory")), "NotRequester");
    await market.write.cancel([job], as("requester"));
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER);
    await revert(market.write.cancel([job], as("requester")), "WrongJobStatus");
    await revert(market.write.claim([job], as("worker")), "WrongJobStatus");
  });

  it("cancel_claimed_reverts", async () => {
    const job = await post();
    await world().market.write.claim([job], as("worker"));
    await revert(world().market.write.cancel([job], as("requester")), "WrongJobStatus");
  });
});
