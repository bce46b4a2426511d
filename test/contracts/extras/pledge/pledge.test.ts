import { expect } from "chai";
import { zeroHash } from "viem";
import { ClaimStatus, PledgeStatus } from "../../../../src/chain/structs.ts";
import { apartAnswers } from "../../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS } from "../../../../testkit/programs/runProgram.ts";
import {
  createPledgeWorld,
  landed,
  LIFETIME,
  OTHER_LIFETIME,
  pledgeStatus,
  promised,
  ticketFor,
  timeOf,
} from "../../../../testkit/protocol/pledgeWorld.ts";
import { RunGame } from "../../../../testkit/protocol/runGame.ts";
import { claimId, claimKey, creditOf, factsOf } from "../../../../testkit/protocol/world.ts";
import { answerOf } from "../../../../testkit/soak/answerRuns.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { ETHER, SINK } from "../../../../testkit/protocol/deployWorld.ts";

const program = apartAnswers("two");
const honest = answerOf(program, 1);
const liar = (element: number) => answerOf(program, 1, { item: 0, step: RUN_STEPS.last, element });

describe("PledgedClaims", () => {
  const world = useWorld(() => createPledgeWorld());
  const revert = (sent: Promise<unknown>, name: string, contract: "claims" | "market" | "vault" = "claims") =>
    world().viem.assertions.revertWithCustomError(sent, world()[contract], name as never);
  const as = (name: "worker" | "watcher" | "requester" | "mallory" | "stranger") => ({
    account: world()[name].account,
  });
  const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);
  const accountOf = (name: "worker" | "mallory") => world().vault.read.accountOf([world()[name].account.address]);
  /** A claim's status. By the claim's id and by its key it is the same. */
  const status = async (claim: Parameters<typeof claimId>[1]) => {
    const { read } = world().claims;
    const [found, time] = await read.statusOf([claimId(world(), claim)]);
    expect(await read.claimStatus([claimKey(world(), claim)])).to.deep.equal([found, time]);
    return found;
  };

  it("pledge_locksOneCollateral_onceAndOfAttestedWorkersOnly", async () => {
    const { claims, vault, parameters } = world();
    expect((await accountOf("worker"))[2]).to.equal(parameters.collateral);
    await revert(claims.write.pledge(as("worker")), "AlreadyPledged");
    await revert(claims.write.pledge(as("requester")), "NotLive", "market");
    await revert(claims.write.pledge(as("mallory")), "InsufficientFreeStake", "vault");
    await vault.write.stake([5n * ETHER], as("mallory"));
    await claims.write.pledge(as("mallory"));
    expect(await pledgeStatus(world(), world().mallory.account.address)).to.equal(PledgeStatus.active);
  });

  it("enter_isForNamedContractsOnly_withinTheirLifetimes", async () => {
    const { claims, worker, requester } = world();
    const { run } = honest;
    const entry = (issued: bigint) => ({
      program: factsOf(program.commitment),
      inputRoots: [...run.inputs.roots],
      inputs: [],
      items: 1,
      firstItem: 0,
      answer: false,
      worker: worker.account.address,
      requester: requester.account.address,
      root: `0x${"ab".repeat(32)}` as const,
      issued,
      salt: zeroHash,
    });
    const now = await timeOf(world());
    await revert(claims.write.enter([entry(now), "0x"], as("mallory")), "NotAuthorised");
    await revert(claims.write.enter([entry(now + 100n), "0x"], as("stranger")), "NotIssuedYet");
    await revert(claims.write.enter([entry(now - BigInt(OTHER_LIFETIME)), "0x"], as("stranger")), "LifetimeOver");
    await revert(claims.write.enter([{ ...entry(now), answer: true }, "0x"], as("stranger")), "NodesMissing");
    await revert(
      claims.write.enter([{ ...entry(now), worker: world().mallory.account.address }, "0x"], as("stranger")),
      "WrongPledgeStatus",
    );
    // A trace of which only the root is known: a game begins at that root.
    await claims.write.enter([entry(now), "0x"], as("stranger"));
    await revert(claims.write.enter([entry(now), "0x"], as("stranger")), "ClaimExists", "market");
    await revert(
      claims.write.enter([{ ...entry(now), root: zeroHash }, "0x"], as("stranger")),
      "ZeroClaimRoot",
      "market",
    );
    await claims.write.enter([{ ...entry(now), salt: `0x${"01".repeat(32)}` }, "0x"], as("stranger"));
  });

  it("claimThatNobodyDisputes_isFinalAfterItsWindow_andPledgeComesBack_onlyWhenNothingIsOpen", async () => {
    const { claims, worker } = world();
    const early = await promised(world(), honest);
    const { claim } = await landed(world(), await promised(world(), honest));
    await revert(claims.write.finalise([claim]), "WindowOpen", "market");
    await claims.write.requestRelease(as("worker"));
    await revert(claims.write.requestRelease(as("worker")), "WrongPledgeStatus");
    // What was issued before can still be put on chain, what is issued later cannot.
    await landed(world(), early);
    const late = await promised(world(), honest);
    await revert(landed(world(), late), "IssuedAfterRequest");
    await revert(claims.write.release(as("worker")), "NotYet");
    await pass(OTHER_LIFETIME);
    await revert(claims.write.release(as("worker")), "ClaimsOpen");
    await pass(1_000);
    await claims.write.finalise([claim]);
    expect(await status(claim)).to.equal(ClaimStatus.finalised);
    await revert(claims.write.finalise([claim]), "WrongClaimStatus", "market");
    await revert(claims.write.release(as("worker")), "ClaimsOpen");
    const events = await world().client.getContractEvents({
      address: world().market.address,
      abi: world().market.abi,
      eventName: "JobPosted",
      fromBlock: 0n,
    });
    const other = { job: events.at(-1)!.args.job!, worker: worker.account.address, root: honest.run.root };
    await claims.write.finalise([{ ...claim, ...other }]);
    await claims.write.release(as("worker"));
    expect((await accountOf("worker"))[2]).to.equal(0n);
    expect(await pledgeStatus(world(), worker.account.address)).to.equal(PledgeStatus.none);
    await claims.write.pledge(as("worker"));
  });

  it("windowsAndReleases_endAfterTheirLastSecond", async () => {
    const { claims, networkHelpers, parameters, viem, worker } = world();
    const at = (time: bigint) => networkHelpers.time.setNextBlockTimestamp(time);
    const { claim } = await landed(world(), await promised(world(), honest));
    const [, end] = await claims.read.statusOf([claimId(world(), claim)]);
    await at(end);
    await revert(claims.write.finalise([claim]), "WindowOpen", "market");
    await at(end + 1n);
    await claims.write.finalise([claim]);
    const asked = end + 10n;
    await at(asked);
    const address = worker.account.address;
    const until = asked + BigInt(OTHER_LIFETIME);
    const requested = claims.write.requestRelease(as("worker"));
    await viem.assertions.emitWithArgs(requested, claims, "ReleaseRequested", [address, until]);
    await at(until);
    await revert(claims.write.release(as("worker")), "NotYet");
    await at(until + 1n);
    const released = claims.write.release(as("worker"));
    await viem.assertions.emitWithArgs(released, claims, "PledgeReleased", [address, parameters.collateral]);
  });

  it("claims_areThoseIssuedUpToTheirBlock_andBeforeTheReleaseIsAskedFor", async () => {
    const { claims, networkHelpers } = world();
    const at = (time: bigint) => networkHelpers.time.setNextBlockTimestamp(time);
    const time = (await timeOf(world())) + 100n;
    const [now, old] = [
      await promised(world(), honest, { issued: time }),
      await promised(world(), honest, { issued: time + 1n - BigInt(LIFETIME) }),
    ];
    await at(time);
    await landed(world(), now);
    // Its last second.
    await at(time + 1n);
    await landed(world(), old);
    const asked = time + 50n;
    await at(asked);
    await claims.write.requestRelease(as("worker"));
    await revert(landed(world(), await promised(world(), honest, { issued: asked })), "IssuedAfterRequest");
    await landed(world(), await promised(world(), honest, { issued: asked - 1n }));
  });

  it("expiredPromise_cannotBePutOnChain", async () => {
    const promise = await promised(world(), honest);
    await pass(LIFETIME + 1);
    await revert(landed(world(), promise), "LifetimeOver");
  });

  it("firstRefutation_takesThePledge_andStopsTheWorker_forGood", async () => {
    const { claims, parameters, watcher, vault, worker, tickets } = world();
    const unlanded = await promised(world(), honest);
    const settled = await landed(world(), await promised(world(), honest));
    const wrong = await landed(world(), await promised(world(), liar(3)));
    const game = new RunGame(world(), wrong, honest);
    const before = await creditOf(world(), watcher);
    await game.prove(await game.proof());
    const refuted = await world().market.getEvents.ClaimRefuted({ claimId: claimId(world(), wrong.claim) });
    expect(refuted[0]!.args.collateral).to.equal(parameters.collateral);
    expect(await status(wrong.claim)).to.equal(ClaimStatus.refuted);
    expect(await pledgeStatus(world(), worker.account.address)).to.equal(PledgeStatus.stopped);
    expect((await claims.read.pledgeOf([worker.account.address]))[1]).to.equal(await timeOf(world()));
    expect((await accountOf("worker"))[1]).to.equal(10n * ETHER - parameters.collateral);
    const gain = (await creditOf(world(), watcher)) - before;
    expect(gain >= parameters.bounty, String(gain)).to.equal(true);
    await pass(2_000);
    await revert(claims.write.finalise([settled.claim]), "WorkerStopped");
    await revert(landed(world(), unlanded), "LifetimeOver");
    await revert(landed(world(), await promised(world(), honest)), "WorkerStopped");
    await revert(claims.write.pledge(as("worker")), "AlreadyPledged");
    await revert(new RunGame(world(), settled, liar(9)).open(), "WindowClosed", "market");
    // What nobody is due stays for other games until none can be open, and goes to the sink then.
    const [, , , left] = await claims.read.pledgeOf([worker.account.address]);
    expect(left > (parameters.collateral * 9n) / 10n).to.equal(true);
    await revert(claims.write.sweep([worker.account.address]), "NotYet");
    const { maxWindow, baseClock, maxWork, rate } = parameters;
    const [, stopped] = await claims.read.pledgeOf([worker.account.address]);
    // A window, then the time of both sides.
    const until = stopped + BigInt(maxWindow) + 2n * (BigInt(baseClock) + (2n * maxWork) / rate);
    await world().networkHelpers.time.setNextBlockTimestamp(until);
    await revert(claims.write.sweep([worker.account.address]), "NotYet");
    await world().networkHelpers.time.setNextBlockTimestamp(until + 1n);
    await claims.write.sweep([worker.account.address]);
    expect((await vault.read.accountOf([SINK]))[0]).to.equal(left);
    await revert(claims.write.sweep([worker.account.address]), "NothingLeft");
    await game.collectEarned();
    expect(await vault.read.custody()).to.equal(0n);
    expect(await tickets.read.claimIdOf([unlanded.digest])).to.equal(zeroHash);
  });

  it("openGamesOfOthers_getBondsAndDues_butNoSecondBounty", async () => {
    const { watcher, mallory, vault, parameters, claims, worker } = world();
    const [one, two] = [
      await landed(world(), await promised(world(), liar(3))),
      await landed(world(), await promised(world(), liar(7))),
    ];
    const first = new RunGame(world(), one, honest, watcher);
    const second = await new RunGame(world(), two, honest, mallory).open();
    await first.prove(await first.proof());
    // No game can be opened against a stopped worker.
    await revert(new RunGame(world(), two, honest, watcher).open(), "WorkerStopped");
    const gas = await second.prove(await second.proof());
    expect(await status(two.claim)).to.equal(ClaimStatus.refuted);
    const refuted = await world().market.getEvents.ClaimRefuted({ claimId: claimId(world(), two.claim) });
    expect(refuted).to.have.length(1);
    await first.collectEarned();
    await second.collectEarned();
    const gain = (await creditOf(world(), mallory)) - 20n * ETHER;
    const { baseFeePerGas } = await world().client.getBlock();
    expect(gain > 0n && gain < 3_000_000n * 2n * baseFeePerGas! && gain < parameters.bounty, `${gain} ${gas}`).to.equal(
      true,
    );
    const [, , open, left] = await claims.read.pledgeOf([worker.account.address]);
    expect(open).to.equal(0n);
    expect(await vault.read.custody()).to.equal(left);
  });

  it("wrongClaimOfAChallenger_costsItsBond_evenAgainstAStoppedWorker", async () => {
    const { worker, watcher, bond, mallory } = world();
    const right = await landed(world(), await promised(world(), honest));
    const wrong = await landed(world(), await promised(world(), liar(3)));
    const sham = await new RunGame(world(), right, liar(9), mallory).open();
    const game = new RunGame(world(), wrong, honest, watcher);
    await game.prove(await game.proof());
    await sham.play();
    await sham.concede(mallory);
    await sham.collectEarned();
    await game.collectEarned();
    expect(await creditOf(world(), mallory)).to.equal(20n * ETHER - bond);
    expect((await creditOf(world(), worker)) >= 10n * ETHER + bond).to.equal(true);
  });

  it("claimsCannotBeAboutWhatNoJobCanBeAbout", async () => {
    const { evidence, claim, signature } = await promised(world(), honest);
    const { tickets } = world();
    const send = (changes: Partial<typeof evidence>) =>
      tickets.write.submitSigned([claim, signature, { ...evidence, ...changes }]);
    const inMarket = (sent: Promise<unknown>, name: string) => revert(sent, name, "market");
    await inMarket(send({ program: { ...evidence.program, stepsRoot: zeroHash } }), "WrongProgram");
    await inMarket(send({ inputs: evidence.inputs.slice(1) }), "WrongInputCount");
    await inMarket(send({ inputs: evidence.inputs.map(() => "0x00" as const) }), "WrongInputLength");
    await revert(send({ nodes: `${evidence.nodes.slice(0, -2)}ff` as `0x${string}` }), "WrongClaimRoot");
    await world().viem.assertions.revertWithCustomError(
      send({ inputRoots: [...evidence.inputRoots].reverse() }),
      tickets,
      "WrongClaim",
    );
    // Without the bytes it is a claim for those who hold them.
    const hash = await send({ inputs: [] });
    expect((await world().client.getTransactionReceipt({ hash })).status).to.equal("success");
  });

  it("ticketFor_aStoppedWorker_isReturned", async () => {
    const { tickets, worker, requester } = world();
    const promise = await promised(world(), honest);
    const { ticket, signature } = await ticketFor(world(), promise);
    await tickets.write.submitAndCash(
      [promise.claim, promise.signature, promise.evidence, ticket, signature, promise.secret],
      { account: worker.account },
    );
    const wrong = await landed(world(), await promised(world(), liar(3)));
    const game = new RunGame(world(), wrong, honest);
    await game.prove(await game.proof());
    await tickets.write.collect([promise.digest]);
    expect(await tickets.read.earnings([worker.account.address])).to.equal(0n);
    const [free] = await tickets.read.depositOf([requester.account.address, worker.account.address]);
    expect(free).to.equal(5n * ETHER);
  });
});
