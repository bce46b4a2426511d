import { expect } from "chai";
import { keccak256, zeroAddress, zeroHash, type Hex } from "viem";
import { digestOf, drawOf, oddsOf } from "../../../../src/parties/tickets/typedData.ts";
import { otherSignatures } from "../../../../testkit/players/otherSignatures.ts";
import { apartAnswers } from "../../../../testkit/programs/answerPrograms.ts";
import {
  claimOf,
  createPledgeWorld,
  DEPOSIT_DELAY,
  landed,
  LIFETIME,
  promised,
  sign,
  ticketFor,
  ticketsAt,
  timeOf,
  type Promised,
} from "../../../../testkit/protocol/pledgeWorld.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { answerOf } from "../../../../testkit/soak/answerRuns.ts";
import { ETHER } from "../../../../testkit/protocol/deployWorld.ts";

const honest = answerOf(apartAnswers("two"), 1);

describe("Tickets", () => {
  const world = useWorld(() => createPledgeWorld());
  const revert = (sent: Promise<unknown>, name: string, contract: "tickets" | "claims" = "tickets") =>
    world().viem.assertions.revertWithCustomError(sent, world()[contract], name as never);
  const as = (name: "worker" | "requester" | "mallory") => ({ account: world()[name].account });
  const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);
  type Signed = Awaited<ReturnType<typeof ticketFor>>;
  const cash = (
    p: Promised,
    { ticket, signature }: Signed,
    secret: Hex = p.secret,
    by: "worker" | "mallory" = "worker",
  ) => world().tickets.write.submitAndCash([p.claim, p.signature, p.evidence, ticket, signature, secret], as(by));
  const depositOf = () =>
    world().tickets.read.depositOf([world().requester.account.address, world().worker.account.address]);
  /** What the contract holds is what it owes: deposits, reserved faces, earnings. */
  const solvent = async (reserved: bigint): Promise<void> => {
    const { tickets, token, worker } = world();
    const [free, withdrawing] = await depositOf();
    const earned = await tickets.read.earnings([worker.account.address]);
    expect(await token.read.balanceOf([tickets.address])).to.equal(free + withdrawing + earned + reserved);
  };

  it("digestsAndDraws_areThoseOfTheClients", async () => {
    const { tickets } = world();
    const promise = await promised(world(), honest);
    expect(await tickets.read.claimDigest([promise.claim])).to.equal(promise.digest);
    const odds = 2n ** 255n;
    const nonces = Array.from({ length: 20 }, (_, k): Hex => keccak256(`0x0${k.toString(16).padStart(3, "0")}`));
    const signed = await Promise.all(nonces.map((nonce) => ticketFor(world(), promise, { nonce, odds })));
    const digests = signed.map(({ ticket }) => digestOf(ticketsAt(world()), "Ticket", ticket));
    expect(await tickets.read.ticketDigest([signed[0]!.ticket])).to.equal(digests[0]);
    const wins = digests.map((digest) => drawOf(promise.secret, digest) < odds);
    expect(new Set(wins).size).to.equal(2);
    for (const [k, one] of signed.entries()) if (!wins[k]!) await revert(cash(promise, one), "TicketLost");
    await cash(promise, signed[wins.indexOf(true)]!);
  });

  it("ticketsWin_asOftenAsTheirOddsSay", () => {
    const wins = Array.from({ length: 20_000 }, (_, k) =>
      drawOf(keccak256(`0x${k.toString(16).padStart(8, "0")}`), zeroHash),
    ).filter((draw) => draw < oddsOf(100)).length;
    // Six standard deviations.
    expect(wins).to.be.within(200 - 85, 200 + 85);
  });

  it("winner_isReserved_paidOnceItsClaimIsFinal_andWithdrawn_toTheWei", async () => {
    const { tickets, worker, token, claims } = world();
    const promise = await promised(world(), honest);
    const signed = await ticketFor(world(), promise);
    const claim = await claimOf(world(), promise, await cash(promise, signed));
    expect((await depositOf())[0]).to.equal(4n * ETHER);
    await solvent(ETHER);
    await revert(cash(promise, signed), "AlreadyCashed");
    await revert(cash(promise, await ticketFor(world(), promise, { nonce: promise.digest })), "AlreadyCashed");
    await revert(tickets.write.collect([promise.digest]), "ClaimNotFinal");
    await pass(2_000);
    await revert(tickets.write.collect([promise.digest]), "ClaimNotFinal");
    await claims.write.finalise([claim]);
    await tickets.write.collect([promise.digest]);
    await revert(tickets.write.collect([promise.digest]), "NotCashed");
    await revert(cash(promise, signed), "AlreadyCashed");
    await solvent(0n);
    const before = await token.read.balanceOf([worker.account.address]);
    await revert(tickets.write.withdrawEarnings([zeroAddress], as("worker")), "ZeroAddress");
    await tickets.write.withdrawEarnings([worker.account.address], as("worker"));
    expect((await token.read.balanceOf([worker.account.address])) - before).to.equal(ETHER);
    await revert(tickets.write.withdrawEarnings([worker.account.address], as("worker")), "NothingEarned");
    await solvent(0n);
  });

  it("payerThatKnowsTheSecret_cashesNoOtherTicketFirst", async () => {
    const promise = await promised(world(), honest);
    const real = await ticketFor(world(), promise);
    const ofNothing = await ticketFor(world(), promise, { face: 1n, nonce: promise.digest });
    const { claim, signature, evidence, secret } = promise;
    const args = [claim, signature, evidence, ofNothing.ticket, ofNothing.signature, secret] as const;
    await revert(world().tickets.write.submitAndCash([...args], as("requester")), "NotWorker");
    await cash(promise, real);
  });

  it("claimThatThePayerPutOnChainFirst_isCashedAllTheSame", async () => {
    const promise = await promised(world(), honest);
    const signed = await ticketFor(world(), promise);
    await revert(
      world().tickets.write.cash([promise.claim, signed.ticket, signed.signature, promise.secret]),
      "NotOnChain",
    );
    await landed(world(), promise);
    await revert(landed(world(), promise), "AlreadyOnChain");
    await cash(promise, signed);
    await solvent(ETHER);
  });

  it("whatIsNotAWinner_isRefused", async () => {
    const promise = await promised(world(), honest);
    const good = await ticketFor(world(), promise);
    await revert(cash(promise, good, zeroHash), "WrongSecret");
    await revert(cash(promise, await ticketFor(world(), promise, { face: 0n })), "ZeroFace");
    await revert(cash(promise, await ticketFor(world(), promise, { face: 2n ** 96n })), "FaceTooLarge");
    await revert(cash(promise, await ticketFor(world(), promise, { face: 6n * ETHER })), "InsufficientDeposit");
    await revert(cash(promise, await ticketFor(world(), promise, { claim: zeroHash })), "WrongClaim");
    await revert(cash(promise, await ticketFor(world(), promise, { odds: 0n })), "TicketLost");
    await revert(cash(promise, await ticketFor(world(), promise, {}, world().mallory)), "WrongSigner");
    await revert(cash(promise, { ...good, ticket: { ...good.ticket, face: 2n * ETHER } }), "WrongSigner");
    const expiry = await timeOf(world());
    await revert(cash(promise, await ticketFor(world(), promise, { expiry })), "TicketExpired");
    const other = await promised(world(), honest);
    await revert(cash(other, good), "WrongClaim");
    const forged = { ...promise, claim: { ...promise.claim, root: `0x${"ab".repeat(32)}` as const } };
    await revert(cash(forged, good), "WrongSigner");
    await solvent(0n);
  });

  it("signaturesOfOtherChainsAndDeployments_andTheOtherHalfOfS_areRefused", async () => {
    const promise = await promised(world(), honest);
    const { ticket, signature } = await ticketFor(world(), promise);
    const at = ticketsAt(world());
    for (const other of [
      { ...at, chainId: at.chainId + 1 },
      { ...at, tickets: world().claims.address },
    ]) {
      const foreign = await sign(world(), "Ticket", ticket, world().requester, other);
      await revert(cash(promise, { ticket, signature: foreign }), "WrongSigner");
      const ofClaim = await sign(world(), "SignedClaim", promise.claim, world().worker, other);
      await revert(cash({ ...promise, signature: ofClaim }, { ticket, signature }), "WrongSigner");
    }
    const [, flipped] = otherSignatures(signature) as [Hex, Hex];
    await revert(cash(promise, { ticket, signature: flipped }), "ECDSAInvalidSignatureS");
    await cash(promise, { ticket, signature });
  });

  it("deposit_isTakenBackAfterItsDelay_andPaysWinnersUntilThen", async () => {
    const { tickets, worker, requester, token } = world();
    const to = worker.account.address;
    await revert(tickets.write.withdraw([to], as("requester")), "NothingRequested");
    await revert(tickets.write.requestWithdrawal([to, 6n * ETHER], as("requester")), "InsufficientDeposit");
    await revert(tickets.write.requestWithdrawal([to, 0n], as("requester")), "ZeroAmount");
    const promise = await promised(world(), honest);
    const signed = await ticketFor(world(), promise, { face: 2n * ETHER });
    await tickets.write.requestWithdrawal([to, 4n * ETHER], as("requester"));
    await revert(tickets.write.withdraw([to], as("requester")), "WithdrawalNotReady");
    await cash(promise, signed);
    // The free ether first, then one of what is asked back.
    expect((await depositOf()).slice(0, 2)).to.deep.equal([0n, 3n * ETHER]);
    await solvent(2n * ETHER);
    await pass(DEPOSIT_DELAY);
    const before = await token.read.balanceOf([requester.account.address]);
    await tickets.write.withdraw([to], as("requester"));
    expect((await token.read.balanceOf([requester.account.address])) - before).to.equal(3n * ETHER);
    expect(await depositOf()).to.deep.equal([0n, 0n, 0n]);
    await solvent(2n * ETHER);
  });

  it("oneDeposit_isForOneWorker", async () => {
    const { tickets, vault, claims, mallory } = world();
    await vault.write.stake([5n * ETHER], as("mallory"));
    await claims.write.pledge(as("mallory"));
    const promise = await promised(world(), honest, {}, mallory);
    const signed = await ticketFor(world(), promise);
    await revert(cash(promise, signed, promise.secret, "mallory"), "InsufficientDeposit");
    await revert(tickets.write.deposit([zeroAddress, mallory.account.address, 1n]), "ZeroAddress");
    await revert(tickets.write.deposit([mallory.account.address, zeroAddress, 1n]), "ZeroAddress");
    await revert(tickets.write.deposit([mallory.account.address, mallory.account.address, 0n]), "ZeroAmount");
  });

  it("deployment_isRefused_ifDepositsLeaveBeforeTicketsExpire", async () => {
    const { viem, claims, token, tickets } = world();
    const deploy = (asset: Hex, delay: number) =>
      viem.deployContract("Tickets", [claims.address, asset, BigInt(LIFETIME), BigInt(delay)]);
    await viem.assertions.revertWithCustomError(deploy(token.address, 2 * LIFETIME - 1), tickets, "DelayTooShort");
    await viem.assertions.revertWithCustomError(
      deploy(world().requester.account.address, 2 * LIFETIME),
      tickets,
      "NoCode",
    );
  });

  it("gasOfAWinner_isWithinABound", async () => {
    const { tickets, claims, client } = world();
    const gasOf = async (hash: Hex) => Number((await client.getTransactionReceipt({ hash })).gasUsed);
    const bare = async () => {
      const promise = await promised(world(), honest);
      return { ...promise, evidence: { ...promise.evidence, inputs: [] } };
    };
    await cash(await bare(), await ticketFor(world(), await bare(), {})).catch(() => undefined);
    let total = 0;
    for (const k of [0, 1]) {
      const promise = await bare();
      const hash = await cash(promise, await ticketFor(world(), promise));
      const claim = await claimOf(world(), promise, hash);
      await pass(2_000);
      const gas = [
        await gasOf(hash),
        await gasOf(await claims.write.finalise([claim])),
        await gasOf(await tickets.write.collect([promise.digest])),
      ];
      total = gas.reduce((a, b) => a + b);
      if (k === 1) expect(total, gas.join(" + ")).to.be.within(200_000, 400_000);
    }
  });
});
