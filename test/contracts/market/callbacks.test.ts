import { expect } from "chai";
import { encodeFunctionData, type Hex } from "viem";
import { submissionOf } from "../../../src/dispute/workerMove.ts";
import { marketKit, delivery, smallProgram, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { honestTrace, chainProgram, type GameProgram } from "../../../testkit/protocol/chainProgram.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { claimId, claimKey, creditOf, submitted, requestFor } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const subject = smallProgram;

describe("JobMarket: callbacks", () => {
  const world = useWorld();
  const { revert, as, pass } = marketKit(world);

  const BEHAVIOUR = { take: 0, revert: 1, burnGas: 2, returnBomb: 3, reenter: 4 } as const;

  /** A finalised job of a requester contract with one behaviour. */
  async function consumerThat(behaviour: number, callbackGas = 1_500_000, of: GameProgram = subject) {
    const { viem, market, vault, token } = world();
    const consumer = await viem.deployContract("ScriptedRequester", [market.address]);
    await token.write.mint([world().mallory.account.address, ETHER]);
    await vault.write.deposit([consumer.address, ETHER], as("mallory"));
    await consumer.write.setBehaviour([behaviour]);
    const request = await requestFor(world(), of, { callbackGas });
    await consumer.write.post([request]);
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    await market.write.claim([job], as("worker"));
    const trace = honestTrace(of);
    await market.write.submit([job, submissionOf(trace.list, 4)], as("worker"));
    const claim = {
      job,
      worker: world().worker.account.address,
      root: trace.root,
      collateral: world().parameters.collateral,
    };
    await pass(1_801);
    await market.write.finalise([claim]);
    return { consumer, claim };
  }

  it("deliver_callsTheRequesterWithFixedGas", async () => {
    const { consumer, claim } = await consumerThat(BEHAVIOUR.take);
    await world().market.write.deliver([claim, delivery()]);
    expect(await consumer.read.lastResult()).to.equal(delivery().data);
    const seen = await consumer.read.gasSeen();
    expect(seen > 1_480_000n && seen <= 1_500_000n, String(seen)).to.equal(true);
    expect(await world().market.getEvents.CallbackMade()).to.have.length(1);
    await revert(world().market.write.deliver([claim, delivery()]), "AlreadyDelivered");
  });

  it("deliver_withoutACallback_callsNobody", async () => {
    const { market } = world();
    const claim = await submitted(world(), subject, honestTrace(subject));
    await pass(1_801);
    await market.write.deliver([claim, delivery()]);
    expect([...(await market.getEvents.CallbackMade()), ...(await market.getEvents.CallbackFailed())]).to.have.length(
      0,
    );
  });

  for (const behaviour of ["revert", "burnGas", "returnBomb"] as const) {
    it(`deliver_callbackWould_${behaviour}_feeIsPaidAndCallCanBeRepeated`, async () => {
      const { consumer, claim } = await consumerThat(BEHAVIOUR[behaviour]);
      await world().market.write.deliver([claim, delivery()]);
      expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
      expect(await world().market.getEvents.CallbackFailed()).to.have.length(1);
      await consumer.write.setBehaviour([BEHAVIOUR.take]);
      await world().market.write.deliver([claim, delivery()], as("mallory"));
      // A delivered output is not logged again.
      expect(await world().market.getEvents.OutputDelivered()).to.have.length(0);
      expect(await consumer.read.results()).to.equal(1n);
      expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
      await revert(world().market.write.deliver([claim, delivery()]), "AlreadyDelivered");
    });
  }

  it("deliver_twoOutputs_eachIsCalledBackOnce_whicheverFailed", async () => {
    const two = chainProgram(300, [3, 1, 2], [0, 2]);
    const { consumer, claim } = await consumerThat(BEHAVIOUR.revert, 1_500_000, two);
    const { market } = world();
    const deliver = (output: number) => market.write.deliver([claim, delivery(two, output)]);
    await deliver(0);
    expect(await market.getEvents.CallbackFailed()).to.have.length(1);
    await consumer.write.setBehaviour([BEHAVIOUR.take]);
    await deliver(1);
    // Both are delivered, so that the fee is paid; the first callback is still owed.
    expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
    expect((await market.read.claimOf([claimKey(world(), claim)])).slice(2)).to.deep.equal([3n, 2n, true]);
    await revert(deliver(1), "AlreadyDelivered");
    await deliver(0);
    expect(await consumer.read.results()).to.equal(2n);
    await revert(deliver(0), "AlreadyDelivered");
    expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
  });

  it("deliver_callbackReenters_oneResultOnePayment", async () => {
    const { consumer, claim } = await consumerThat(BEHAVIOUR.reenter, 2_000_000);
    const { market } = world();
    const args = [claim, delivery()] as const;
    await consumer.write.setReentry([encodeFunctionData({ abi: market.abi, functionName: "deliver", args })]);
    await market.write.deliver(args, { gas: 8_000_000n });
    expect(await consumer.read.results()).to.equal(1n);
    expect(await consumer.read.reentrySucceeded()).to.equal(false);
    expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
  });

  it("deliver_withTooLittleGasForTheCallback_reverts", async () => {
    const { claim } = await consumerThat(BEHAVIOUR.take, 1_000_000);
    const sent = world().market.write.deliver([claim, delivery()], { gas: 900_000n });
    await revert(sent, "TooLittleGas");
  });

  it("deliver_withTheLeastGasThatIsTaken_givesTheCallbackAllThatWasPromised", async () => {
    const { consumer, claim } = await consumerThat(BEHAVIOUR.take, 1_000_000);
    const args = [claim, delivery()] as const;
    const withGas = (gas: bigint) => world().market.write.deliver(args, { ...as("mallory"), gas });
    const tried = 1_150_000n;
    const refusal = await refusalOf(withGas(tried));
    const [, available, needed] = /TooLittleGas\((\d+), (\d+)\)/.exec(refusal) ?? [];
    // A reserve of 40,000 beside the callback's gas; a call passes on 63/64.
    expect(needed, refusal).to.equal(String((1_040_000n * 64n) / 63n));
    const enough = tried + BigInt(needed!) - BigInt(available!);
    await revert(withGas(enough - 1n), "TooLittleGas");
    await withGas(enough);
    expect(await world().market.getEvents.CallbackMade()).to.have.length(1);
    expect(Number(await consumer.read.gasSeen())).to.be.within(990_000, 1_000_000);
  });
});

describe("JobMarket: what only the game may do", () => {
  const world = useWorld();
  const { revert, as } = marketKit(world);

  it("gameCalls_byAnybodyElse_revert", async () => {
    const { market, mallory } = world();
    const { address } = mallory.account;
    await revert(market.write.gameOpened([OTHER_ROOT, OTHER_ROOT, address, 0n], as("mallory")), "NotGame");
    await revert(market.write.pay([address, 1n], as("mallory")), "NotGame");
    const key = { jobId: OTHER_ROOT, worker: address, root: OTHER_ROOT, collateral: 1n };
    await revert(market.write.refuted([key, OTHER_ROOT], as("mallory")), "NotGame");
  });

  it("refuted_byTheGameItself_ofAClaimThatDoesNotStand_reverts", async () => {
    const { market, game, networkHelpers } = world();
    const claim = await submitted(world(), subject, honestTrace(subject));
    const [key, id] = [claimKey(world(), claim), claimId(world(), claim)];
    await networkHelpers.impersonateAccount(game.address);
    await networkHelpers.setBalance(game.address, ETHER);
    const refuted = (claimed: Hex) => market.write.refuted([key, claimed], { account: game.address });
    await revert(refuted(OTHER_ROOT), "WrongClaimStatus");
    await refuted(id);
    await revert(refuted(id), "WrongClaimStatus");
  });
});
