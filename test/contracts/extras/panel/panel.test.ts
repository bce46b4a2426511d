import { expect } from "chai";
import { keccak256, zeroHash, type Hex } from "viem";
import { JobStatus, type ClaimKey, type Job } from "../../../../src/chain/structs.ts";
import { submissionOf } from "../../../../src/dispute/workerMove.ts";
import { claimOf, sealOf } from "../../../../src/chain/market/ids.ts";
import { toHex } from "../../../../src/program/merkle/hash.ts";
import type { Trace } from "../../../../src/program/trace/trace.ts";
import { honestTrace, lyingTrace } from "../../../../testkit/protocol/chainProgram.ts";
import { GameDriver } from "../../../../testkit/protocol/gameDriver.ts";
import { delivery, OTHER_ROOT, smallProgram } from "../../../../testkit/protocol/marketKit.ts";
import { NO_CLAIM, panelKit, panelWorld, type Posted } from "../../../../testkit/protocol/panelKit.ts";
import { useWorld } from "../../../../testkit/protocol/useWorld.ts";
import { creditOf, gasOf, jobId } from "../../../../testkit/protocol/world.ts";
import { ETHER, type Actor } from "../../../../testkit/protocol/deployWorld.ts";

const OUTCOME = { none: 0, open: 1, agreed: 2, survived: 3, split: 4, failed: 5 } as const;
const WINDOW = 1_801;
const CLOCK = 3_600;
/** The checkpoint that holds the output. */
const LAST = smallProgram.program.checkpoints.length - 1;

describe("Panel", function () {
  const world = useWorld(panelWorld);
  const { at, jobsOf, request, post, seal, open, play, finalise } = panelKit(world);
  const honest = honestTrace(smallProgram);
  const lie = lyingTrace(smallProgram, 2, 5);

  const revert = (sent: Promise<unknown>, name: string) =>
    world().viem.assertions.revertWithCustomError(sent, world().panel, name as never);
  const as = (actor: Actor) => ({ account: actor.account });
  const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);
  const panelId = ({ first }: Posted): Hex => jobId(world(), first);
  const outcomeOf = async (panel: Posted) => {
    const [, , , , outcome, root] = await world().panel.read.panelOf([panelId(panel)]);
    return { outcome, root };
  };
  const stakeOf = async (actor: Actor) => (await world().vault.read.accountOf([actor.account.address]))[1];
  const tokensOf = ({ account }: Actor) => world().token.read.balanceOf([account.address]);
  const statusOf = async (job: Job) => (await world().market.read.jobOf([jobId(world(), job)]))[0];

  /** Ends a wrong claim by the proof of one element. Its worker answers as the liar that it is. */
  async function refute(job: Job, { worker, root, collateral }: ClaimKey, trace: Trace = lie): Promise<void> {
    const game = new GameDriver(world(), smallProgram, trace, claimOf(job, worker, root, collateral));
    await game.open();
    await game.descend(0, 2, 5);
    await game.prove(5);
    await world().game.write.collect([game.key], as(world().stranger));
  }

  /** Of this contract's credit nothing is left but what it owes, and of the market's custody nothing. */
  async function expectNothingLeft(owed: bigint): Promise<void> {
    const { vault, panel } = world();
    expect((await vault.read.accountOf([panel.address]))[0]).to.equal(owed);
    expect(await panel.read.owed([world().requester.account.address])).to.equal(owed);
    expect(await vault.read.custody()).to.equal(0n);
  }

  describe("post", () => {
    it("takesTheFeesOfAllSeats_andOfTheOneThatMayBeAdded_fromThePoster", async () => {
      const { requester, panel, vault } = world();
      const before = await tokensOf(requester);
      const posted = await post(3, true);
      expect(before - (await tokensOf(requester))).to.equal(4n * ETHER);
      expect(await vault.read.custody()).to.equal(3n * ETHER);
      expect((await vault.read.accountOf([panel.address]))[0]).to.equal(ETHER);
      const [poster, seats, added, auditUntil, outcome] = await panel.read.panelOf([panelId(posted)]);
      expect([poster.toLowerCase(), seats, added, auditUntil, outcome]).to.deep.equal([
        requester.account.address.toLowerCase(),
        3n,
        false,
        BigInt(posted.auditUntil),
        OUTCOME.open,
      ]);
    });

    it("inputBytes_areInTheFirstSeatOnly_andAllSeatsAskTheSame", async () => {
      const { jobs, first } = await post(3);
      expect(jobs.map(({ rootOnly }) => rootOnly)).to.deep.equal([false, true, true]);
      for (const job of jobs)
        expect({ ...job, salt: zeroHash, rootOnly: false }).to.deep.equal({ ...first, salt: zeroHash });
      for (const [k, job] of jobs.entries())
        expect(await world().panel.read.seatOf([first, BigInt(k)])).to.deep.equal(job);
    });

    it("requestsThatCannotBeSeats_areRefused_andNothingIsTaken", async () => {
      const { panel, requester } = world();
      const before = await tokensOf(requester);
      const refused = async (name: string, asked: Awaited<ReturnType<typeof request>>, seats = 1, audit = 0) =>
        revert(panel.write.post([asked, seats, audit], as(requester)), name);
      await refused("SeatsOutOfRange", await request(), 0);
      await refused("SeatsOutOfRange", await request(), 17);
      await refused("UnfitRequest", await request({ terms: [] }));
      await refused("UnfitRequest", await request({ callbackGas: 1 }));
      await refused("UnfitRequest", await request({ maxOutputBytes: 1 }));
      await refused("UnfitRequest", await request({}, { openFrom: 0 }));
      await refused("UnfitRequest", await request({}, { earlyAccept: true }));
      await refused("UnfitRequest", await request({}, { reservedFor: requester.account.address }));
      await refused("UnfitRequest", await request({ inputs: [] }));
      // A proof would end a seat that is sealed.
      const keyed = panel.write.post([await request({ answer: true }, { keyHash: OTHER_ROOT }), 1, 0], as(requester));
      await world().viem.assertions.revertWithCustomError(keyed, world().market, "NotProvable");
      const asked = await request();
      const earliest = Number(asked.deadline) + asked.claimSeconds + 1;
      await refused("AuditOutOfRange", asked, 1, earliest - 1);
      await refused("AuditOutOfRange", asked, 1, asked.terms[0]!.openFrom);
      expect(await tokensOf(requester)).to.equal(before);
    });

    it("sixteenSeats_takeLessThan12MillionGas_inEveryCall", async () => {
      const { panel, requester } = world();
      const hash = await panel.write.post([await request(), 16, 0], as(requester));
      expect((await gasOf(world(), hash)) < 12_000_000n).to.equal(true);
      const [first] = await jobsOf(hash);
      await pass(2 * CLOCK);
      const keys = Array<ClaimKey>(16).fill(NO_CLAIM);
      const resolved = await panel.write.resolve([first!, keys], as(world().stranger));
      expect((await gasOf(world(), resolved)) < 12_000_000n).to.equal(true);
      await expectNothingLeft(16n * ETHER);
    });
  });

  it("oneWorker_takesOneSeat", async () => {
    const { market, worker, mallory } = world();
    const { jobs, terms } = await post(2);
    await market.write.claimOnTerms([jobs[0]!, terms], as(worker));
    const again = market.write.claimOnTerms([jobs[1]!, terms], as(worker));
    await world().viem.assertions.revertWithCustomError(again, market, "GroupTaken");
    await market.write.claimOnTerms([jobs[1]!, terms], as(mallory));
  });

  it("copiedSeal_cannotBeOpened_andCostsTheWholeCollateral", async () => {
    const { market, worker, mallory, stranger } = world();
    const posted = await post(2);
    const { jobs, terms } = posted;
    await seal(posted, jobs[0]!, worker, honest);
    const salt = keccak256(worker.account.address);
    const copied = sealOf(panelId(posted), worker.account.address, honest.root, salt);
    await market.write.claimOnTerms([jobs[1]!, terms], as(mallory));
    await market.write.seal([jobs[1]!, terms, copied], as(mallory));
    await at(posted.openFrom);
    await open(posted, jobs[0]!, worker, honest);
    const nodes = submissionOf(honest.list, world().parameters.arityBits);
    for (const { account } of [mallory, worker]) {
      const opened = market.write.openSeal([jobs[1]!, terms, account.address, salt, nodes], as(mallory));
      await world().viem.assertions.revertWithCustomError(opened, market, "WrongSeal");
    }
    const before = await stakeOf(mallory);
    await pass(CLOCK + 1);
    await market.write.breakSeal([jobs[1]!, terms, mallory.account.address, copied], as(stranger));
    expect(before - (await stakeOf(mallory))).to.equal(terms.collateral);
  });

  it("agreedAtOnce_thenSurvived_andEachSeatIsPaidOnce", async () => {
    const { panel, worker, mallory, stranger, market } = world();
    const posted = await post(3);
    const before = await Promise.all([worker, mallory, stranger].map((actor) => creditOf(world(), actor)));
    const keys = await play(posted, [
      [worker, honest],
      [mallory, honest],
      [stranger, honest],
    ]);
    const output = [posted.first, true, 0n, delivery()] as const;
    await revert(panel.read.requireOutput([...output]), "WrongOutcome");
    await revert(panel.write.agree([posted.first, keys.slice(1)]), "WrongClaimCount");
    await revert(panel.write.agree([posted.first, [keys[1]!, keys[0]!, keys[2]!]]), "NotTheSeat");
    await panel.write.agree([posted.first, keys], as(stranger));
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.agreed, root: honest.root });
    await panel.read.requireOutput([...output]);
    await revert(panel.read.requireOutput([posted.first, false, 0n, delivery()]), "WrongOutcome");
    const wrong = { ...delivery(), data: `0x01${delivery().data.slice(4)}` as Hex };
    const refused = panel.read.requireOutput([posted.first, true, 0n, wrong]);
    await world().viem.assertions.revertWithCustomError(refused, market, "OutputNotInClaim");
    await revert(panel.write.agree([posted.first, keys]), "WrongOutcome");
    await revert(panel.write.resolve([posted.first, keys]), "SeatNotOver");
    await pass(WINDOW);
    for (const [k, key] of keys.entries()) await finalise(posted.jobs[k]!, key);
    const forged = [keys[0]!, keys[1]!, { ...keys[2]!, root: OTHER_ROOT }];
    await revert(panel.write.resolve([posted.first, forged]), "NotTheFinalClaim");
    await revert(panel.write.resolve([posted.first, [keys[0]!, keys[0]!, keys[2]!]]), "NotTheSeat");
    await panel.write.resolve([posted.first, keys], as(stranger));
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.survived, root: honest.root });
    await panel.read.requireOutput([posted.first, false, 0n, delivery()]);
    for (const [k, actor] of [worker, mallory, stranger].entries())
      expect((await creditOf(world(), actor)) - before[k]!).to.equal(ETHER);
    await revert(panel.write.resolve([posted.first, keys]), "WrongOutcome");
    await expectNothingLeft(0n);
    await revert(panel.write.withdraw(as(world().requester)), "NothingOwed");
  });

  for (const finals of [1, 2])
    it(`agreedAfterTheWindow_where${finals}Of2SeatsAreFinalAlready_andSurvivesThen`, async () => {
      const { panel, worker, mallory, stranger } = world();
      const posted = await post(2);
      const keys = await play(posted, [
        [worker, honest],
        [mallory, honest],
      ]);
      await pass(WINDOW);
      for (let k = 0; k < finals; k++) await finalise(posted.jobs[k]!, keys[k]!);
      await panel.write.agree([posted.first, keys], as(stranger));
      expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.agreed, root: honest.root });
      await panel.read.requireOutput([posted.first, true, 0n, delivery()]);
      for (let k = finals; k < 2; k++) await finalise(posted.jobs[k]!, keys[k]!);
      await panel.write.resolve([posted.first, keys], as(stranger));
      expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.survived, root: honest.root });
    });

  it("twoOfThreeLieAlike_theyAreRefutedByProof_slashed_andTheHonestSeatSurvives", async () => {
    const { panel, worker, mallory, stranger, requester } = world();
    const posted = await post(3);
    const keys = await play(posted, [
      [worker, lie],
      [mallory, lie],
      [stranger, honest],
    ]);
    await revert(panel.write.agree([posted.first, keys]), "SeatDisagrees");
    const before = [await stakeOf(worker), await stakeOf(mallory), await stakeOf(stranger)];
    // A proof needs no answer of the worker: one liar plays on, of the other the time runs out or it concedes.
    await refute(posted.jobs[0]!, keys[0]!);
    const second = new GameDriver(
      world(),
      smallProgram,
      lie,
      claimOf(posted.jobs[1]!, mallory.account.address, lie.root, posted.terms.collateral),
    );
    await second.open();
    await second.concede(mallory);
    const { collateral } = posted.terms;
    expect([await stakeOf(worker), await stakeOf(mallory), await stakeOf(stranger)]).to.deep.equal([
      before[0]! - collateral,
      before[1]! - collateral,
      before[2]!,
    ]);
    await pass(WINDOW);
    await finalise(posted.jobs[2]!, keys[2]!);
    await panel.write.resolve([posted.first, keys]);
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.survived, root: honest.root });
    await expectNothingLeft(2n * ETHER);
    const tokens = await tokensOf(requester);
    await panel.write.withdraw(as(requester));
    expect((await tokensOf(requester)) - tokens).to.equal(2n * ETHER);
    await expectNothingLeft(0n);
  });

  it("allLieAlike_isAgreed_andTheyAreSlashedAfterwards", async () => {
    const { panel, worker, mallory } = world();
    const posted = await post(2);
    const keys = await play(posted, [
      [worker, lie],
      [mallory, lie],
    ]);
    await panel.write.agree([posted.first, keys]);
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.agreed, root: lie.root });
    const wrong = {
      ...delivery(),
      data: toHex(lie.tensor(smallProgram.program.steps.length - 1)),
      siblings: lie.list.path(LAST),
    };
    await panel.read.requireOutput([posted.first, true, 0n, wrong]);
    await refute(posted.jobs[0]!, keys[0]!);
    // At once, whoever has resolved the panel or not.
    await revert(panel.read.requireOutput([posted.first, true, 0n, wrong]), "SeatNotOpened");
    const { collateral } = posted.terms;
    const second = new GameDriver(
      world(),
      smallProgram,
      lie,
      claimOf(posted.jobs[1]!, mallory.account.address, lie.root, collateral),
    );
    await second.open();
    await second.concede(mallory);
    expect([await stakeOf(worker), await stakeOf(mallory)]).to.deep.equal([
      10n * ETHER - collateral,
      10n * ETHER - collateral,
    ]);
    await panel.write.resolve([posted.first, keys]);
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.failed, root: zeroHash });
    await revert(panel.read.requireOutput([posted.first, true, 0n, delivery()]), "WrongOutcome");
    await expectNothingLeft(2n * ETHER);
  });

  it("rootThatAProofRefutedOnOneSeat_isNoResult_whoeverElseClaimsIt", async () => {
    const { panel, worker, mallory, stranger } = world();
    const posted = await post(3);
    const keys = await play(posted, [
      [worker, lie],
      [mallory, lie],
      [stranger, lie],
    ]);
    await refute(posted.jobs[0]!, keys[0]!);
    await pass(WINDOW);
    for (const k of [1, 2]) await finalise(posted.jobs[k]!, keys[k]!);
    await panel.write.resolve([posted.first, keys]);
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.split, root: zeroHash });
  });

  it("rootThatDiedByAClockOnOneSeat_survivesOnOthers", async () => {
    const { panel, worker, mallory, watcher } = world();
    const posted = await post(2);
    const keys = await play(posted, [
      [worker, honest],
      [mallory, honest],
    ]);
    const { root, collateral } = keys[0]!;
    const game = new GameDriver(
      world(),
      smallProgram,
      honest,
      claimOf(posted.jobs[0]!, keys[0]!.worker, root, collateral),
    );
    await game.open();
    await pass(CLOCK + 1);
    await game.timeout(watcher);
    await finalise(posted.jobs[1]!, keys[1]!);
    await panel.write.resolve([posted.first, keys]);
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.survived, root: honest.root });
  });

  it("differentClaimsThatNobodyDisputes_areSplit_andNoResult", async () => {
    const { panel, worker, mallory } = world();
    const posted = await post(2);
    const keys = await play(posted, [
      [worker, honest],
      [mallory, lie],
    ]);
    await pass(WINDOW);
    for (const [k, key] of keys.entries()) await finalise(posted.jobs[k]!, key);
    await panel.write.resolve([posted.first, keys]);
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.split, root: zeroHash });
    await expectNothingLeft(0n);
  });

  it("seatThatNobodyTakes_isClosed_andItsFeeIsOwedWhole", async () => {
    const { panel, worker } = world();
    const posted = await post(2);
    const claims = [NO_CLAIM, NO_CLAIM];
    const early = panel.write.resolve([posted.first, claims]);
    await world().viem.assertions.revertWithCustomError(early, world().market, "TimeNotUp");
    const [key] = await play(posted, [[worker, honest]]);
    await revert(panel.write.agree([posted.first, [key!, NO_CLAIM]]), "NotTheSeat");
    await revert(
      panel.write.agree([posted.first, [key!, { ...NO_CLAIM, jobId: jobId(world(), posted.jobs[1]!) }]]),
      "SeatNotOpened",
    );
    await pass(WINDOW);
    await finalise(posted.first, key!);
    await panel.write.resolve([posted.first, [key!, NO_CLAIM]], as(world().stranger));
    expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.survived, root: honest.root });
    expect(await statusOf(posted.jobs[1]!)).to.equal(JobStatus.closed);
    await expectNothingLeft(ETHER);
  });

  it("sealThatIsNotOpened_losesTheWholeCollateral_andTheOthersDecide", async () => {
    const { panel, worker, mallory, market } = world();
    const posted = await post(2);
    await seal(posted, posted.jobs[0]!, worker, honest);
    await seal(posted, posted.jobs[1]!, mallory, lie);
    await at(posted.openFrom);
    const key = await open(posted, posted.jobs[0]!, worker, honest);
    const before = await stakeOf(mallory);
    await pass(CLOCK + 1);
    await finalise(posted.first, key);
    await revert(panel.write.resolve([posted.first, [key, NO_CLAIM]]), "SeatNotOver");
    const { logs } = { logs: await market.getEvents.ClaimSealed({}, { fromBlock: 0n }) };
    const sealed = logs.find(({ args }) => args.worker?.toLowerCase() === mallory.account.address.toLowerCase())!;
    const broken = [posted.jobs[1]!, posted.terms, mallory.account.address, sealed.args.seal!] as const;
    await market.write.breakSeal([...broken], as(world().watcher));
    expect(before - (await stakeOf(mallory))).to.equal(posted.terms.collateral);
    await panel.write.resolve([posted.first, [key, NO_CLAIM]]);
    expect((await outcomeOf(posted)).outcome).to.equal(OUTCOME.survived);
    await expectNothingLeft(ETHER);
  });

  describe("a seat added between seals and openings", () => {
    async function added(posted: Posted): Promise<Job> {
      const hash = await world().panel.write.addSeat([posted.first, posted.request], as(world().requester));
      return (await jobsOf(hash))[0]!;
    }

    it("panelOfOne_withTheSeatAdded_isCheckedByAWorkerThatIsPaid", async () => {
      const { panel, worker, mallory, requester } = world();
      const posted = await post(1, true);
      const add = (by: Actor, changes: Partial<Posted["request"]> = {}) =>
        panel.write.addSeat([posted.first, { ...posted.request, ...changes }], as(by));
      await seal(posted, posted.first, worker, lie);
      await revert(add(requester), "TooSoonToAdd");
      await at(posted.deadline + 1);
      await revert(add(mallory), "NotPoster");
      await revert(add(requester, { fee: 0n }), "OtherRequest");
      await revert(add(requester, { terms: [] }), "OtherRequest");
      const job = await added(posted);
      expect(job).to.deep.equal(await panel.read.seatOf([posted.first, 1n]));
      expect((await panel.read.panelOf([panelId(posted)])).slice(1, 3)).to.deep.equal([2n, true]);
      expect(job.deadline).to.equal(BigInt(posted.auditUntil));
      await revert(add(requester), "NoSeatToAdd");
      await seal(posted, job, mallory, honest);
      await at(posted.openFrom);
      const keys = [await open(posted, posted.first, worker, lie), await open(posted, job, mallory, honest)];
      await revert(panel.write.agree([posted.first, [keys[0]!]]), "WrongClaimCount");
      await revert(panel.write.agree([posted.first, keys]), "SeatDisagrees");
      const before = await stakeOf(worker);
      await refute(posted.first, keys[0]!);
      expect(before - (await stakeOf(worker))).to.equal(posted.terms.collateral);
      const paid = await creditOf(world(), mallory);
      await pass(WINDOW);
      await finalise(job, keys[1]!);
      expect((await creditOf(world(), mallory)) - paid).to.equal(ETHER);
      await panel.write.resolve([posted.first, keys]);
      expect(await outcomeOf(posted)).to.deep.equal({ outcome: OUTCOME.survived, root: honest.root });
      await expectNothingLeft(ETHER);
    });

    it("panelOfOne_withoutIt_givesTheKeptFeeBack", async () => {
      const { panel, worker } = world();
      const posted = await post(1, true);
      const keys = await play(posted, [[worker, honest]]);
      const late = panel.write.addSeat([posted.first, posted.request], as(world().requester));
      await world().viem.assertions.revertWithCustomError(late, world().market, "DeadlineTooSoon");
      await panel.write.agree([posted.first, keys]);
      await pass(WINDOW);
      await finalise(posted.first, keys[0]!);
      await panel.write.resolve([posted.first, keys]);
      expect((await outcomeOf(posted)).outcome).to.equal(OUTCOME.survived);
      await expectNothingLeft(ETHER);
      await revert(panel.write.addSeat([posted.first, posted.request], as(world().requester)), "WrongOutcome");
    });

    it("withoutAFeeForIt_noneIsAdded", async () => {
      const posted = await post(1);
      await at(posted.deadline + 1);
      const add = world().panel.write.addSeat([posted.first, posted.request], as(world().requester));
      await revert(add, "NoSeatToAdd");
    });
  });

  it("jobThatIsNoPanels_isRefused", async () => {
    const { panel } = world();
    const { first } = await post(1);
    const other = { ...first, salt: OTHER_ROOT };
    await revert(panel.write.agree([other, []]), "WrongOutcome");
    await revert(panel.write.resolve([other, []]), "WrongOutcome");
    await revert(panel.write.addSeat([other, await request()]), "WrongOutcome");
    expect((await panel.read.panelOf([zeroHash]))[0]).to.equal(`0x${"00".repeat(20)}`);
  });
});
