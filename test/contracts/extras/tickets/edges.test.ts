import { expect } from "chai";
import { getAddress, type Hex } from "viem";
import { apartAnswers } from "../../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS } from "../../../../testkit/programs/runProgram.ts";
import {
  claimOf,
  createPledgeWorld,
  DEPOSIT_DELAY,
  landed,
  LIFETIME,
  promised,
  ticketFor,
  timeOf,
  type Promised,
} from "../../../../testkit/protocol/pledgeWorld.ts";
import { RunGame } from "../../../../testkit/protocol/runGame.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { claimId } from "../../../../testkit/protocol/world.ts";
import { answerOf } from "../../../../testkit/soak/answerRuns.ts";
import { ETHER } from "../../../../testkit/protocol/deployWorld.ts";

const honest = answerOf(apartAnswers("two"), 1);
const liar = answerOf(apartAnswers("two"), 1, { item: 0, step: RUN_STEPS.last, element: 3 });

describe("Tickets: edges and events", () => {
  const world = useWorld(() => createPledgeWorld());
  const revert = (sent: Promise<unknown>, name: string) =>
    world().viem.assertions.revertWithCustomError(sent, world().tickets, name as never);
  const emits = (sent: Promise<Hex>, name: string, args: readonly unknown[]) =>
    world().viem.assertions.emitWithArgs(sent, world().tickets, name as never, args as never);
  const as = (name: "worker" | "requester" | "mallory") => ({ account: world()[name].account });
  const at = (time: bigint) => world().networkHelpers.time.setNextBlockTimestamp(time);
  const both = () => [world().requester.account.address, world().worker.account.address] as const;
  type Signed = Awaited<ReturnType<typeof ticketFor>>;
  const cash = (p: Promised, { ticket, signature }: Signed) =>
    world().tickets.write.cash([p.claim, ticket, signature, p.secret], as("worker"));

  it("everyMove_hasItsEvent", async () => {
    const { tickets, claims, worker, requester, mallory } = world();
    const [payer, to] = both();
    const promise = await promised(world(), honest);
    const { digest, claim, signature, evidence } = promise;
    const submitted = await tickets.write.submitSigned([claim, signature, evidence], as("requester"));
    const onChain = await claimOf(world(), promise, submitted);
    const id = claimId(world(), onChain);
    await emits(Promise.resolve(submitted), "SignedClaimSubmitted", [digest, id, to, payer]);
    await emits(cash(promise, await ticketFor(world(), promise)), "TicketCashed", [digest, payer, to, ETHER]);
    expect(await tickets.read.cashed([digest])).to.deep.equal([getAddress(payer), getAddress(to), ETHER]);
    await world().networkHelpers.time.increase(2_000);
    await claims.write.finalise([onChain]);
    await emits(tickets.write.collect([digest]), "TicketPaid", [digest, payer, to, ETHER]);
    const { address } = mallory.account;
    const earned = tickets.write.withdrawEarnings([address], as("worker"));
    await emits(earned, "EarningsWithdrawn", [worker.account.address, address, ETHER]);
    // What others brought is there already.
    await emits(tickets.write.deposit([payer, to, 7n], as("mallory")), "Deposited", [payer, to, address, 7n]);
    expect((await tickets.read.depositOf([payer, to]))[0]).to.equal(4n * ETHER + 7n);
    const time = (await timeOf(world())) + 10n;
    await at(time);
    const asked = tickets.write.requestWithdrawal([to, 5n], as("requester"));
    await emits(asked, "WithdrawalRequested", [payer, to, 5n, time + BigInt(DEPOSIT_DELAY)]);
    await world().networkHelpers.time.increase(DEPOSIT_DELAY);
    await emits(tickets.write.withdraw([to], as("requester")), "Withdrawn", [requester.account.address, to, 5n]);
  });

  it("aStoppedWorker_cashesNothing_andWhatWasCashedGoesBack", async () => {
    const [payer, to] = both();
    const [cashed, later] = [await promised(world(), honest), await promised(world(), honest)];
    for (const promise of [cashed, later]) await landed(world(), promise);
    await cash(cashed, await ticketFor(world(), cashed));
    const game = new RunGame(world(), await landed(world(), await promised(world(), liar)), honest);
    await game.prove(await game.proof());
    await revert(cash(later, await ticketFor(world(), later)), "WorkerStopped");
    const collected = world().tickets.write.collect([cashed.digest]);
    await emits(collected, "TicketReturned", [cashed.digest, payer, to, ETHER]);
    await revert(world().tickets.write.collect([cashed.digest]), "NotCashed");
  });

  it("aTicket_isCashedUntilTheSecondOfItsExpiry", async () => {
    const [first, second] = [await promised(world(), honest), await promised(world(), honest)];
    for (const promise of [first, second]) await landed(world(), promise);
    const expiry = (await timeOf(world())) + 100n;
    const [one, two] = [await ticketFor(world(), first, { expiry }), await ticketFor(world(), second, { expiry })];
    await at(expiry);
    await cash(first, one);
    await at(expiry + 1n);
    await revert(cash(second, two), "TicketExpired");
  });

  it("aFace_isAsMuchAsThereIs_freeOrAskedBack", async () => {
    const { tickets, token, requester } = world();
    const [payer, to] = both();
    const [first, second, third] = [
      await promised(world(), honest),
      await promised(world(), honest),
      await promised(world(), honest),
    ];
    for (const promise of [first, second, third]) await landed(world(), promise);
    const max = 2n ** 96n - 1n;
    await token.write.mint([payer, max]);
    await tickets.write.requestWithdrawal([to, 2n * ETHER], as("requester"));
    await revert(cash(first, await ticketFor(world(), first, { face: 5n * ETHER + 1n })), "InsufficientDeposit");
    await cash(first, await ticketFor(world(), first, { face: 5n * ETHER }));
    expect((await tickets.read.depositOf([payer, to])).slice(0, 2)).to.deep.equal([0n, 0n]);
    await tickets.write.deposit([payer, to, max], { account: requester.account });
    await revert(cash(second, await ticketFor(world(), second, { face: max + 1n })), "FaceTooLarge");
    await cash(second, await ticketFor(world(), second, { face: max }));
    await revert(cash(third, await ticketFor(world(), third, { face: 1n })), "InsufficientDeposit");
  });

  it("aDeposit_isAskedBackWhole_andComesBackInTheSecondThatWasSaid", async () => {
    const { tickets } = world();
    const [payer, to] = both();
    await revert(tickets.write.requestWithdrawal([to, 5n * ETHER + 1n], as("requester")), "InsufficientDeposit");
    await tickets.write.requestWithdrawal([to, 5n * ETHER], as("requester"));
    const [, , readyAt] = await tickets.read.depositOf([payer, to]);
    await at(readyAt - 1n);
    await revert(tickets.write.withdraw([to], as("requester")), "WithdrawalNotReady");
    await at(readyAt);
    await tickets.write.withdraw([to], as("requester"));
  });

  it("deployment_saysItsTimes_andTakesTheShortestDelay", async () => {
    const { viem, claims, token } = world();
    const shortest = await viem.deployContract("Tickets", [
      claims.address,
      token.address,
      BigInt(LIFETIME),
      BigInt(2 * LIFETIME),
    ]);
    expect(await shortest.read.claimLifetime()).to.equal(BigInt(LIFETIME));
    expect(await shortest.read.withdrawalDelay()).to.equal(BigInt(2 * LIFETIME));
  });
});
