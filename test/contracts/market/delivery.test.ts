import { expect } from "chai";
import type { Hex } from "viem";
import { ClaimStatus, JobStatus, type Delivery } from "../../../src/chain/structs.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { marketKit, delivery, smallProgram, SUBMITTED_NODES, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimKey, creditOf, gasOf, submitted, requestFor } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const subject = smallProgram;

describe("JobMarket: finalise, deliver, accept", () => {
  const world = useWorld();
  const { revert, as, statusOf, pass, finalised } = marketKit(world);

  it("deliver_afterTheWindow_finalisesToo", async () => {
    const { market, vault, worker } = world();
    const claim = await submitted(world(), subject, honestTrace(subject));
    await revert(market.write.deliver([claim, delivery()]), "WindowOpen");
    await pass(1_801);
    await market.write.deliver([claim, delivery()], as("mallory"));
    expect(await statusOf(claim.job)).to.equal(JobStatus.complete);
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(0n);
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
  });

  it("deliver_whileAGameIsOpen_reverts", async () => {
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    await new GameDriver(world(), subject, trace, claim).open();
    await pass(1_801);
    await revert(world().market.write.deliver([claim, delivery()]), "GamesOpen");
  });

  it("honestJob_withoutInputs_paysTheWorker_isWithinTheGasBoundOf300k", async () => {
    const { market, worker, vault } = world();
    // 32 bytes of input and output, one checkpoint.
    const tiny = chainProgram(8, [3]);
    const gas: bigint[] = [];
    const spend = async (sent: Promise<Hex>) => gas.push(await gasOf(world(), await sent));
    const request = await requestFor(world(), tiny);
    await spend(market.write.post([request], as("requester")));
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    await spend(market.write.claim([job], as("worker")));
    await spend(market.write.submit([job, submissionOf(honestTrace(tiny).list, 4)], as("worker")));
    const claim = {
      job,
      worker: worker.account.address,
      root: honestTrace(tiny).root,
      collateral: world().parameters.collateral,
    };
    await pass(1_801);
    await spend(market.write.deliver([claim, delivery(tiny)]));
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(0n);
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
    const total = gas.reduce((a, b) => a + b);
    expect(total <= 300_000n, gas.join(" + ")).to.equal(true);
  });

  it("finalise_tooEarlyTwiceOrUnknown_reverts", async () => {
    const { market } = world();
    const claim = await submitted(world(), subject, honestTrace(subject));
    await revert(market.write.finalise([claim]), "WindowOpen");
    await pass(1_801);
    await revert(market.write.finalise([{ ...claim, root: OTHER_ROOT }]), "WrongClaimStatus");
    await market.write.finalise([claim]);
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
  });

  it("finalise_withAnOpenGame_reverts", async () => {
    const claim = await submitted(world(), subject, honestTrace(subject));
    await new GameDriver(world(), subject, honestTrace(subject), claim).open();
    await pass(1_801);
    await revert(world().market.write.finalise([claim]), "GamesOpen");
  });

  it("finalise_nothingToDeliver_releasesTheFee", async () => {
    await finalised({ maxOutputBytes: 0 });
    expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
  });

  it("deliver_wrongOutput_reverts", async () => {
    const { market } = world();
    const claim = await finalised();
    const d = delivery();
    const send = (changes: Partial<Delivery>) => market.write.deliver([claim, { ...d, ...changes }]);
    await revert(send({ output: 1 }), "NotDeliverable");
    await revert(send({ output: 64 }), "NotDeliverable");
    await revert(send({ data: d.data.slice(0, -2) as Hex }), "WrongOutputLength");
    await revert(send({ data: `${d.data.slice(0, -2)}ff` as Hex }), "OutputNotInClaim");
    await revert(send({ siblings: d.siblings.slice(1) }), "PathTooShort");
    await revert(send({ siblings: [...d.siblings, OTHER_ROOT] }), "SiblingCount");
    await revert(send({ program: { ...d.program, stepsRoot: OTHER_ROOT } }), "WrongProgram");
  });

  it("deliver_anotherCheckpointAsOutput_reverts", async () => {
    // The attack of an honest trace with a wrong leaf as its output.
    const trace = honestTrace(subject);
    const claim = await finalised();
    const data = toHex(trace.tensor(3));
    const sent = world().market.write.deliver([claim, { ...delivery(), data, siblings: trace.list.path(1) }]);
    await revert(sent, "OutputNotInClaim");
  });

  it("deliver_beforeFinalisation_reverts", async () => {
    const claim = await submitted(world(), subject, honestTrace(subject));
    await revert(world().market.write.deliver([claim, delivery()]), "WindowOpen");
    await revert(world().market.write.deliver([{ ...claim, root: OTHER_ROOT }, delivery()]), "WrongClaimStatus");
  });

  it("deliver_twice_reverts", async () => {
    const claim = await finalised();
    await world().market.write.deliver([claim, delivery()], as("mallory"));
    await revert(world().market.write.deliver([claim, delivery()]), "AlreadyDelivered");
  });

  it("deliver_twoOutputs_feeWithTheLast", async () => {
    const two = chainProgram(300, [3, 1, 2], [0, 2]);
    const claim = await finalised({}, two);
    await world().market.write.deliver([claim, delivery(two, 1)]);
    expect(await creditOf(world(), world().worker)).to.equal(10n * ETHER);
    await world().market.write.deliver([claim, delivery(two, 0)]);
    expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
  });

  it("accept_byTheRequester_releasesTheFeeOnce", async () => {
    const { market, worker } = world();
    const claim = await finalised();
    await revert(market.write.accept([claim], as("mallory")), "NotRequester");
    await market.write.accept([claim], as("requester"));
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
    await revert(market.write.accept([claim], as("requester")), "AlreadyPaid");
    await market.write.deliver([claim, delivery()]);
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
  });

  it("slashedClaim_reopensTheJob_sameClaimRefused", async () => {
    const { market } = world();
    const lie = lyingTrace(subject, 4, 17);
    const claim = await submitted(world(), subject, lie);
    const game = new GameDriver(world(), subject, lie, claim);
    await (await game.descend(2, 4, 17)).prove(17);
    expect((await market.read.claimOf([claimKey(world(), claim)]))[0]).to.equal(ClaimStatus.refuted);
    expect(await statusOf(claim.job)).to.equal(JobStatus.open);
    await pass(1_801);
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
    await market.write.claim([claim.job], as("worker"));
    await revert(market.write.submit([claim.job, submissionOf(lie.list, 4)], as("worker")), "ClaimExists");
    await market.write.submit([claim.job, SUBMITTED_NODES], as("worker"));
  });
});
