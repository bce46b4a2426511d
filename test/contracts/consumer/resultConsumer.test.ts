import { expect } from "chai";
import { artifacts } from "hardhat";
import { encodeFunctionData, getAddress, type Abi, type Address, type Hex } from "viem";
import { JobStatus, type Claim, type Job, type JobRequest } from "../../../src/chain/structs.ts";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { delivery, marketKit, smallProgram } from "../../../testkit/protocol/marketKit.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { createWorld, creditOf, jobId, postedJob, requestFor } from "../../../testkit/protocol/world.ts";
import { ETHER, type Actor, type World } from "../../../testkit/protocol/deployWorld.ts";

const MIN_WINDOW = 1_800;
const CALLBACK_GAS = 1_500_000;

/** A world with a dapp in which everybody may spend. */
async function createDapp(world: World) {
  const dapp = await world.viem.deployContract("PlainDapp", [world.market.address, MIN_WINDOW]);
  for (const { account } of [world.requester, world.mallory]) {
    await world.token.write.approve([dapp.address, 2n ** 255n], { account });
  }
  return dapp;
}

describe("ResultConsumer: fees that come back go to who asked", () => {
  const world = useWorld();
  const { as, pass, statusOf } = marketKit(world);
  let dapp: Awaited<ReturnType<typeof createDapp>>;
  beforeEach(async () => {
    dapp = await createDapp(world());
  });

  async function ask(by: Actor, changes: Partial<JobRequest> = {}): Promise<Job> {
    const request = await requestFor(world(), smallProgram, { callbackGas: CALLBACK_GAS, ...changes });
    return postedJob(world(), await dapp.write.ask([request], { account: by.account }));
  }
  const tokens = (of: { address: Address }): Promise<bigint> => world().token.read.balanceOf([of.address]);
  const reverts = (sent: Promise<unknown>, name: string) =>
    world().viem.assertions.revertWithCustomError(sent, dapp, name as never);
  const dappCredit = (): Promise<bigint> => creditOf(world(), { account: dapp });

  /** What a refund of a job sends to its asker. */
  async function refunded(job: Job, by: Actor): Promise<bigint> {
    const had = await tokens(by.account);
    await dapp.write.refund([job], { account: by.account });
    return (await tokens(by.account)) - had;
  }

  async function submit(job: Job): Promise<Claim> {
    const { market, worker } = world();
    await market.write.claim([job], as("worker"));
    const trace = honestTrace(smallProgram);
    await market.write.submit([job, submissionOf(trace.list, world().parameters.arityBits)], as("worker"));
    return { job, worker: worker.account.address, root: trace.root, collateral: world().parameters.collateral };
  }

  it("refund_openQuestion_cancelsIt_andReturnsTheWholeFee", async () => {
    const job = await ask(world().requester, { fee: 3n * ETHER });
    expect(await dappCredit()).to.equal(0n);
    expect(await refunded(job, world().requester)).to.equal(3n * ETHER);
    expect(await statusOf(job)).to.equal(JobStatus.closed);
    expect(await dappCredit()).to.equal(0n);
    expect(await world().market.read.refundOf([job])).to.deep.equal([true, 3n * ETHER]);
  });

  it("refund_questionThatWaitsForItsInput_returnsTheWholeFee", async () => {
    const job = await ask(world().requester, { inputs: [] });
    expect(await refunded(job, world().requester)).to.equal(ETHER);
  });

  it("refund_twice_revertsTheSecondTime", async () => {
    const { requester, mallory } = world();
    const [first] = [await ask(requester), await ask(mallory)];
    await dapp.write.refund([first], as("requester"));
    await reverts(dapp.write.refund([first], as("requester")), "NotAsker");
    expect(await dappCredit()).to.equal(0n);
  });

  it("refund_ofSomebodyElsesQuestion_reverts", async () => {
    const job = await ask(world().requester);
    await reverts(dapp.write.refund([job], as("mallory")), "NotAsker");
    await reverts(dapp.write.refund([{ ...job, fee: 5n * ETHER }], as("requester")), "NotAsker");
  });

  it("refund_afterSomebodyElseExpiredTheQuestion_returnsExactlyWhatCameBack", async () => {
    const { requester, mallory, market } = world();
    const mine = await ask(requester, { fee: 2n * ETHER });
    const theirs = await ask(mallory, { fee: ETHER / 1_000n });
    await pass(86_400);
    await market.write.expire([mine], as("watcher"));
    await market.write.expire([theirs], as("watcher"));
    const back = await dappCredit();
    const ofMine = await refunded(mine, requester);
    const ofTheirs = await refunded(theirs, mallory);
    expect(ofMine < 2n * ETHER && ofTheirs < ETHER / 1_000n).to.equal(true);
    expect(ofMine + ofTheirs).to.equal(back);
    expect(await dappCredit()).to.equal(0n);
  });

  it("refund_ofAFeeThatExpiryUsedUp_sendsNothing", async () => {
    const job = await ask(world().requester, { fee: 1n });
    await pass(86_400);
    await world().market.write.expire([job], as("watcher"));
    expect(await refunded(job, world().requester)).to.equal(0n);
    await reverts(dapp.write.refund([job], as("requester")), "NotAsker");
  });

  it("refund_ofAQuestionWithoutAFee_sendsNothing", async () => {
    const job = await ask(world().requester, { fee: 0n });
    expect(await refunded(job, world().requester)).to.equal(0n);
  });

  it("refund_whileAWorkerComputes_reverts_andReturnsTheWholeFeeOnceItIsLate", async () => {
    const { requester, market, viem } = world();
    const job = await ask(requester);
    await market.write.claim([job], as("worker"));
    await viem.assertions.revertWithCustomError(dapp.write.refund([job], as("requester")), market, "TimeNotUp");
    await pass(601);
    expect(await refunded(job, requester)).to.equal(ETHER);
    expect(await statusOf(job)).to.equal(JobStatus.closed);
  });

  it("refund_lateWorkerAndNoTimeLeft_returnsTheWholeFee", async () => {
    const { requester, market } = world();
    const job = await ask(requester);
    await pass(86_400 - 700);
    await market.write.claim([job], as("worker"));
    await pass(700);
    expect(await refunded(job, requester)).to.equal(ETHER);
  });

  it("refund_submittedOrAnsweredQuestion_reverts_andTheAnswerStays", async () => {
    const { requester, market } = world();
    const job = await ask(requester);
    const claim = await submit(job);
    await reverts(dapp.write.refund([job], as("requester")), "FeeNotReturned");
    await pass(1_801);
    const output = delivery();
    await market.write.deliver([claim, output], as("worker"));
    expect(await dapp.read.resultOf([jobId(world(), job)])).to.equal(output.data);
    await reverts(dapp.write.refund([job], as("requester")), "FeeNotReturned");
    expect(await dappCredit()).to.equal(0n);
  });

  it("refund_afterAFeeWasReclaimed_returnsTheWholeFee_evenIfTheOutputCameLater", async () => {
    const { requester, market } = world();
    const claim = await submit(await ask(requester));
    await pass(1_801);
    await market.write.finalise([claim]);
    await pass(7 * 86_400 + 1);
    await market.write.reclaim([claim], as("mallory"));
    await market.write.deliver([claim, delivery()], as("worker"));
    expect(await dapp.read.resultOf([jobId(world(), claim.job)])).to.equal(delivery().data);
    expect(await refunded(claim.job, requester)).to.equal(ETHER);
    await reverts(dapp.write.refund([claim.job], as("requester")), "NotAsker");
    expect(await dappCredit()).to.equal(0n);
  });

  it("refund_afterAFeeWasReclaimed_returnsTheWholeFee_ifNoOutputEverCame", async () => {
    const { requester, market } = world();
    const claim = await submit(await ask(requester));
    await pass(1_801);
    await market.write.finalise([claim]);
    await pass(7 * 86_400 + 1);
    await market.write.reclaim([claim], as("mallory"));
    expect(await market.read.refundOf([claim.job])).to.deep.equal([true, ETHER]);
    expect(await refunded(claim.job, requester)).to.equal(ETHER);
  });

  it("askingAndRefunding_areTold", async () => {
    const { requester, viem } = world();
    const asker = getAddress(requester.account.address);
    const request = await requestFor(world(), smallProgram, { callbackGas: CALLBACK_GAS });
    const asking = dapp.write.ask([request], as("requester"));
    const job = await postedJob(world(), await asking);
    const id = jobId(world(), job);
    await viem.assertions.emitWithArgs(asking, dapp, "Asked", [id, asker]);
    const refunding = dapp.write.refund([job], as("requester"));
    await viem.assertions.emitWithArgs(refunding, dapp, "Refunded", [id, asker, ETHER]);
  });

  it("ask_withCreditOfOthersInTheDapp_spendsOnlyTheAskersFee", async () => {
    const { requester, mallory, market } = world();
    const theirs = await ask(mallory);
    await pass(86_400);
    await market.write.expire([theirs], as("watcher"));
    const before = await dappCredit();
    expect(before > 0n).to.equal(true);
    await ask(requester);
    expect(await dappCredit()).to.equal(before);
  });

  it("onResult_fromOthersOrForOthersJobs_reverts", async () => {
    const { market, networkHelpers, viem } = world();
    const job = jobId(world(), await ask(world().requester));
    await reverts(dapp.write.onResult([job, 0n, "0x00"], as("mallory")), "NotMarket");
    await networkHelpers.impersonateAccount(market.address);
    await networkHelpers.setBalance(market.address, ETHER);
    const { account } = await viem.getWalletClient(market.address);
    await reverts(dapp.write.onResult([`0x${"12".repeat(32)}`, 0n, "0x00"], { account }), "NotAsked");
    await dapp.write.onResult([job, 0n, "0xab"], { account });
    expect(await dapp.read.resultOf([job])).to.equal("0xab");
  });

  it("ask_windowBelowTheDappsLeast_reverts", async () => {
    const strict = await world().viem.deployContract("PlainDapp", [world().market.address, 7_200]);
    const request = await requestFor(world(), smallProgram, { window: 7_199 });
    const sent = strict.write.ask([request], as("requester"));
    await world().viem.assertions.revertWithCustomErrorWithArgs(sent, strict, "WindowBelowMinimum", [7_199, 7_200]);
  });

  it("ask_sameTermsByTwo_areTwoQuestions", async () => {
    const { requester, mallory } = world();
    const request = await requestFor(world(), smallProgram);
    const [first, second] = [
      await postedJob(world(), await dapp.write.ask([request], { account: mallory.account })),
      await postedJob(world(), await dapp.write.ask([request], { account: requester.account })),
    ];
    expect(first.salt).to.not.equal(second.salt);
    expect(await dapp.read.askerOf([jobId(world(), second)])).to.equal(getAddress(requester.account.address));
  });
});

describe("ResultConsumer: unusual assets", () => {
  it("ask_withAnAssetThatKeepsAPart_reverts_andOthersRefundsStay", async () => {
    const world = await createWorld({}, "FeeToken");
    const dapp = await createDapp(world);
    // Somebody's refund in the dapp's credit, of which the rest of the fee would be taken.
    await world.vault.write.deposit([dapp.address, ETHER], { account: world.mallory.account });
    await world.token.write.mint([dapp.address, ETHER]);
    const request = await requestFor(world, smallProgram, { fee: ETHER });
    const sent = dapp.write.ask([request], { account: world.requester.account });
    await world.viem.assertions.revertWithCustomError(sent, dapp, "FeeNotArrived");
  });

  it("refund_assetCallsBackIn_paysOnce", async () => {
    const world = await createWorld({}, "ReentrantToken");
    const { viem, mallory, requester } = world;
    const dapp = await createDapp(world);
    const token = await viem.getContractAt("ReentrantToken", world.token.address);
    // The asker is a contract, so that the asset can call as the asker from inside the payment.
    const asker = await viem.deployContract("ContractChallenger");
    const abis = {
      PlainDapp: (await artifacts.readArtifact("PlainDapp")).abi as Abi,
      TestToken: (await artifacts.readArtifact("TestToken")).abi as Abi,
      ContractChallenger: (await artifacts.readArtifact("ContractChallenger")).abi as Abi,
    };
    const call = (name: keyof typeof abis, functionName: string, args: readonly unknown[]): Hex =>
      encodeFunctionData({ abi: abis[name], functionName, args });
    const batch = (target: Address, calls: Hex[]): Promise<Hex> =>
      asker.write.batch([target, calls], { account: mallory.account });
    await token.write.mint([asker.address, ETHER]);
    await batch(token.address, [call("TestToken", "approve", [dapp.address, ETHER])]);
    const request = await requestFor(world, smallProgram);
    const job = await postedJob(world, await batch(dapp.address, [call("PlainDapp", "ask", [request])]));
    // Another's fee is in the dapp's credit meanwhile.
    const other = await postedJob(world, await dapp.write.ask([request], { account: requester.account }));
    await world.networkHelpers.time.increase(86_400);
    await world.market.write.expire([other], { account: requester.account });

    const refund = call("PlainDapp", "refund", [job]);
    await token.write.arm([asker.address, call("ContractChallenger", "batch", [dapp.address, [refund]])]);
    await batch(dapp.address, [refund]);
    expect(await token.read.payload()).to.equal("0x");
    expect(await token.read.lastCallSucceeded()).to.equal(false);
    expect(await token.read.balanceOf([asker.address])).to.equal(ETHER);
    const [left] = await world.vault.read.accountOf([dapp.address]);
    expect(await world.market.read.refundOf([other])).to.deep.equal([true, left]);
    await dapp.write.refund([other], { account: requester.account });
    expect(await creditOf(world, { account: dapp })).to.equal(0n);
  });
});
