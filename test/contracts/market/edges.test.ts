import { expect } from "chai";
import { zeroAddress, zeroHash, type Hex } from "viem";
import { ClaimStatus, JobStatus, type JobRequest } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { delivery, marketKit, smallProgram, SUBMITTED_NODES, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { honestTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import {
  claimKey,
  createWorld,
  creditOf,
  factsOf,
  jobId,
  postJob,
  submitted,
  requestFor,
} from "../../../testkit/protocol/world.ts";
import { ETHER, SINK } from "../../../testkit/protocol/deployWorld.ts";

const subject = smallProgram;

describe("JobMarket: to the second and to the byte", () => {
  const world = useWorld();
  const { revert, as, post, refusedPost, statusOf } = marketKit(world);
  const now = () => world().networkHelpers.time.latest();
  /** The next transaction is in the block of this second. */
  const at = (second: number | bigint) => world().networkHelpers.time.setNextBlockTimestamp(second);
  const accepted = async (changes: Partial<JobRequest>): Promise<void> => {
    const before = await world().networkHelpers.takeSnapshot();
    await post(changes);
    await before.restore();
  };

  it("post_termsAtTheirLimits_accepted", async () => {
    await accepted({ window: 1_800 });
    await accepted({ window: 86_400 });
    await accepted({ callbackGas: 2_000_000 });
    await accepted({ maxOutputBytes: 65_536 });
    expect((await post({ maxOutputBytes: 1_200 })).deliverables).to.equal(1n);
  });

  it("post_deadline_fromOneClaimToOneYear", async () => {
    const second = (await now()) + 1_000;
    for (const [deadline, error] of [
      [second + 599, "DeadlineTooSoon"],
      [second + 600, undefined],
      [second + 365 * 86_400, undefined],
      [second + 365 * 86_400 + 1, "DeadlineTooFar"],
    ] as const) {
      const before = await world().networkHelpers.takeSnapshot();
      await at(second);
      const changes = { deadline: BigInt(deadline) };
      await (error === undefined ? post(changes) : refusedPost(error, changes));
      await before.restore();
    }
  });

  it("post_programAtTheDeploymentsLimits_accepted_butNoMore", async () => {
    const header = Buffer.from(subject.commitment.header);
    const withHeader = (change: (bytes: Buffer) => void) => {
      const copy = Buffer.from(header);
      change(copy);
      return { program: { ...factsOf(subject.commitment), header: toHex(copy) } };
    };
    await accepted(withHeader((b) => b.writeUInt32BE(12_000_000, 2)));
    await accepted(withHeader((b) => b.writeUInt32BE(90_000, 6)));
    await refusedPost(
      "StepProofTooLong",
      withHeader((b) => b.writeUInt32BE(90_001, 6)),
    );
    // 1e12 of work at 1e8 a second: 10,000 seconds more. 20,000 of it are the item's own.
    await refusedPost(
      "TooMuchWork",
      withHeader((b) => b.writeBigUInt64BE(999_999_980_001n, 10)),
    );
    const largest = withHeader((b) => b.writeBigUInt64BE(999_999_980_000n, 10));
    await refusedPost("WindowOutOfRange", { ...largest, window: 11_799 });
    await accepted({ ...largest, window: 11_800 });
    await refusedPost(
      "OutputWithoutCheckpoint",
      withHeader((b) => b.writeUInt32BE(0xffffffff, 44)),
    );
  });

  it("post_headerOf2048BytesAtMost_accepted_ofMore_reverts", async () => {
    // 30 bytes, 14 for each input and each output.
    const inputs = (count: number) => Array.from({ length: count }, () => ({ dtype: DType.uint8, count: 1 }));
    const root = tensorTree(Uint8Array.of(0)).root;
    const request = (count: number, outputs: number): Partial<JobRequest> => ({
      program: factsOf(
        commitProgram({ ...subject.program, inputs: inputs(count), outputs: new Array<number>(outputs).fill(0) }),
      ),
      inputRoots: new Array<Hex>(count).fill(root),
      inputs: [],
      rootOnly: true,
    });
    const bytes = ({ program }: Partial<JobRequest>) => (program!.header.length - 2) / 2;
    const [longest, longer] = [request(138, 6), request(141, 4)];
    expect([bytes(longest), bytes(longer)]).to.deep.equal([2_046, 2_060]);
    await accepted(longest);
    await refusedPost("HeaderTooLong", longer);
  });

  it("post_64Outputs_areAllDeliverable", async () => {
    const many = chainProgram(4, [1], new Array<number>(64).fill(0));
    expect((await post({}, many)).deliverables).to.equal(2n ** 64n - 1n);
  });

  it("claim_upToTheLastSecondThatLeavesTime", async () => {
    const { market } = world();
    const job = await post();
    const last = job.deadline - BigInt(job.claimSeconds);
    const before = await world().networkHelpers.takeSnapshot();
    await at(last + 1n);
    await revert(market.write.claim([job], as("worker")), "DeadlineTooSoon");
    await before.restore();
    await at(last);
    await revert(market.write.expire([job]), "TimeNotUp");
    await before.restore();
    await at(last);
    await market.write.claim([job], as("worker"));
  });

  it("submit_upToTheLastSecond_thenExpire", async () => {
    const { market } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    const until = BigInt(await now()) + 600n;
    expect((await market.read.jobOf([jobId(world(), job)])).slice(1)).to.deep.equal([
      (await market.getEvents.JobClaimed())[0]!.args.worker,
      until,
      0n,
    ]);
    const before = await world().networkHelpers.takeSnapshot();
    await at(until);
    await market.write.submit([job, SUBMITTED_NODES], as("worker"));
    await before.restore();
    await at(until);
    await revert(market.write.expire([job]), "TimeNotUp");
    await before.restore();
    await at(until + 1n);
    await revert(market.write.submit([job, SUBMITTED_NODES], as("worker")), "TimeIsUp");
    await at(until + 2n);
    await market.write.expire([job]);
  });

  it("window_gamesUpToItsLastSecond_finaliseAfterIt", async () => {
    const { market, game, watcher } = world();
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    const end = BigInt(await now()) + 1_800n;
    expect((await market.read.claimOf([claimKey(world(), claim)]))[1]).to.equal(end);
    const before = await world().networkHelpers.takeSnapshot();
    await at(end);
    await revert(market.write.finalise([claim]), "WindowOpen");
    await before.restore();
    await at(end);
    await new GameDriver(world(), subject, trace, claim).open();
    await before.restore();
    await at(end + 1n);
    const open = game.write.open(new GameDriver(world(), subject, trace, claim).openArgs(0, 0), {
      account: watcher.account,
    });
    await revert(open, "WindowClosed");
    await before.restore();
    await at(end + 1n);
    await market.write.finalise([claim]);
  });

  it("expire_atTheLastSecondThatLeavesTime_reopens_oneLater_closes", async () => {
    const { market } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    const last = job.deadline - BigInt(job.claimSeconds);
    const before = await world().networkHelpers.takeSnapshot();
    await at(last);
    await market.write.expire([job]);
    expect(await statusOf(job)).to.equal(JobStatus.open);
    await before.restore();
    await at(last + 1n);
    await market.write.expire([job]);
    expect(await statusOf(job)).to.equal(JobStatus.closed);
  });
});

describe("JobMarket: what it tells and stores", () => {
  const world = useWorld();
  const { revert, as, post, statusOf, pass, finalised } = marketKit(world);
  const emits = (sent: Promise<Hex>, name: string, args: unknown[]): Promise<void> =>
    world().viem.assertions.emitWithArgs(sent, world().market, name as never, args as never);
  const now = async () => BigInt(await world().networkHelpers.time.latest());
  const none = [0n, 0n, false] as const;

  it("life_ofAJob_isToldByEvents", async () => {
    const { market, worker } = world();
    const request = await requestFor(world(), subject);
    const before = await world().networkHelpers.takeSnapshot();
    const id = jobId(world(), await postJob(world(), request));
    await before.restore();
    await emits(market.write.post([request], as("requester")), "JobOpened", [id]);
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    const who = posted!.args.requester;
    expect(who!.toLowerCase()).to.equal(world().requester.account.address);
    const address = (await market.read.jobOf([id]))[1];
    expect(address).to.equal(zeroAddress);
    await world().networkHelpers.time.setNextBlockTimestamp((await now()) + 10n);
    await market.write.claim([job], as("worker"));
    const [claimed] = await market.getEvents.JobClaimed();
    expect(claimed!.args).to.deep.equal({
      jobId: id,
      worker: (await market.read.jobOf([id]))[1],
      until: (await now()) + 600n,
    });
    await market.write.submit([job, SUBMITTED_NODES], as("worker"));
    const [reported] = await market.getEvents.ClaimSubmitted();
    const claim = {
      job,
      worker: worker.account.address,
      root: honestTrace(subject).root,
      collateral: world().parameters.collateral,
    };
    const { claimId } = reported!.args;
    expect(reported!.args).to.deep.equal({
      jobId: id,
      claimId,
      worker: claimed!.args.worker,
      root: claim.root,
      collateral: claim.collateral,
      windowEnd: (await now()) + 1_800n,
      nodes: SUBMITTED_NODES,
    });
    await pass(1_801);
    const end = await world().networkHelpers.takeSnapshot();
    await emits(market.write.finalise([claim]), "ClaimFinalised", [id, claimId]);
    await end.restore();
    const data = delivery().data;
    await emits(market.write.deliver([claim, delivery()]), "OutputDelivered", [id, claimId, 0n, data]);
    const [released] = await market.getEvents.FeeReleased();
    expect(released!.args).to.deep.equal({ jobId: id, claimId, worker: claimed!.args.worker, fee: ETHER });
    const [status, , , , paid] = await market.read.claimOf([claimKey(world(), claim)]);
    expect([status, paid]).to.deep.equal([ClaimStatus.finalised, true]);
  });

  it("inputInParts_eachIsTold_andTheJobOpensOnce", async () => {
    const { market } = world();
    const program = { ...subject.program, inputs: [0, 1].map(() => ({ dtype: DType.uint8, count: 3 })) };
    const bytes = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5, 6)];
    const roots = bytes.map((b) => tensorTree(b).root);
    const list = MerkleList.fromHashes(roots);
    const facts = factsOf(commitProgram(program));
    const job = await post({ program: facts, inputRoots: roots, inputs: [] });
    const id = jobId(world(), job);
    expect(await market.getEvents.JobOpened()).to.have.length(0);
    expect((await market.read.jobOf([id])).slice(2)).to.deep.equal([0n, 2n]);
    const part = (input: number) => ({
      input,
      part: 0,
      data: toHex(bytes[input]!),
      siblings: [],
      inputRoot: roots[input]!,
      inputSiblings: list.path(input),
    });
    await emits(market.write.publishInput([job, facts, part(1)]), "InputPublished", [id, 1n, 0n, part(1).data]);
    expect(await market.getEvents.JobOpened()).to.have.length(0);
    expect((await market.read.jobOf([id])).slice(2)).to.deep.equal([0n, 1n]);
    await revert(market.write.publishInput([job, facts, part(1)]), "PartAlreadyPublished");
    await emits(market.write.publishInput([job, facts, part(0)]), "JobOpened", [id]);
    expect(await statusOf(job)).to.equal(JobStatus.open);
  });

  it("cancelAndExpire_whileTheInputIsMissing_refund", async () => {
    const { market, requester } = world();
    const job = await post({ inputs: [] });
    expect(await statusOf(job)).to.equal(JobStatus.awaitingInput);
    const before = await world().networkHelpers.takeSnapshot();
    await emits(market.write.cancel([job], as("requester")), "JobClosed", [jobId(world(), job), ETHER]);
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER);
    await before.restore();
    await pass(86_400);
    await market.write.expire([job], as("mallory"));
    const reward = (await creditOf(world(), world().mallory)) - 20n * ETHER;
    const [closed] = await market.getEvents.JobClosed();
    expect(closed!.args).to.deep.equal({ jobId: jobId(world(), job), refund: ETHER - reward });
    expect(await statusOf(job)).to.equal(JobStatus.closed);
  });

  it("expire_ofAClaimedJob_tellsThePenalty_andWhetherTheJobIsOpenAgain", async () => {
    const { market, vault, worker, parameters } = world();
    const job = await post();
    const id = jobId(world(), job);
    await market.write.claim([job], as("worker"));
    await pass(601);
    const penalty = parameters.collateral / 20n;
    const before = await world().networkHelpers.takeSnapshot();
    await market.write.expire([job]);
    const [expired] = await market.getEvents.JobExpired();
    expect([expired!.args.jobId, expired!.args.penalty]).to.deep.equal([id, penalty]);
    expect(expired!.args.worker!.toLowerCase()).to.equal(worker.account.address);
    expect((await market.getEvents.JobOpened())[0]!.args.jobId).to.equal(id);
    expect((await market.read.jobOf([id])).slice(1)).to.deep.equal([zeroAddress, 0n, 0n]);
    await before.restore();
    await pass(86_400);
    await market.write.expire([job], as("mallory"));
    expect(await market.getEvents.JobOpened()).to.have.length(0);
    expect((await market.getEvents.JobClosed())[0]!.args).to.deep.equal({ jobId: id, refund: ETHER });
    // The penalty goes to the sink and to whoever called; nothing stays in custody.
    const gain = (await creditOf(world(), world().mallory)) - 20n * ETHER;
    expect((await vault.read.accountOf([SINK]))[0]).to.equal(penalty - gain);
    expect(await vault.read.custody()).to.equal(0n);
  });

  it("refuted_isTold_andTheJobIsOpenAgain", async () => {
    const { market, parameters } = world();
    const trace = honestTrace(subject);
    const claim = await submitted(world(), subject, trace);
    const id = jobId(world(), claim.job);
    const game = await new GameDriver(world(), subject, trace, claim).open();
    await game.concede(world().worker);
    const [refuted] = await market.getEvents.ClaimRefuted();
    expect([refuted!.args.jobId, refuted!.args.collateral]).to.deep.equal([id, parameters.collateral]);
    expect(refuted!.args.worker!.toLowerCase()).to.equal(claim.worker);
    expect((await market.getEvents.JobOpened())[0]!.args.jobId).to.equal(id);
    expect((await market.read.claimOf([claimKey(world(), claim)])).slice(1)).to.deep.equal([0n, ...none]);
    expect(await market.read.claimStatus([claimKey(world(), claim)])).to.deep.equal([ClaimStatus.refuted, 0n]);
  });

  it("feelessJob_livesAndDies_withoutMovingMoney", async () => {
    const { market, vault, worker, requester } = world();
    const claim = await finalised({ fee: 0n });
    await market.write.deliver([claim, delivery()]);
    expect([await creditOf(world(), worker), await vault.read.custody()]).to.deep.equal([10n * ETHER, 0n]);
    const other = await post({ fee: 0n, salt: OTHER_ROOT });
    await market.write.cancel([other], as("requester"));
    expect(await creditOf(world(), requester)).to.equal(20n * ETHER);
  });

  it("claimOf_tellsWhatWasDelivered_andWhetherItIsPaid", async () => {
    const { market } = world();
    const two = chainProgram(300, [3, 1, 2], [0, 2]);
    const claim = await finalised({}, two);
    const read = async (key = claimKey(world(), claim)) => {
      const told = await market.read.claimOf([key]);
      expect(await market.read.claimStatus([key])).to.deep.equal(told.slice(0, 2));
      return told.slice(2);
    };
    expect(await read()).to.deep.equal([...none]);
    await market.write.deliver([claim, delivery(two, 1)]);
    expect(await read()).to.deep.equal([2n, 0n, false]);
    await market.write.accept([claim], as("requester"));
    expect(await read()).to.deep.equal([2n, 0n, true]);
    await market.write.deliver([claim, delivery(two, 0)]);
    expect((await read())[2]).to.equal(true);
    await revert(market.write.deliver([claim, delivery(two, 0)]), "AlreadyDelivered");
    const unknown = { ...claimKey(world(), claim), root: OTHER_ROOT };
    expect(await market.read.claimOf([unknown])).to.deep.equal([ClaimStatus.none, 0n, ...none]);
    const nowhere = { ...unknown, jobId: zeroHash };
    expect([await read(unknown), await read(nowhere)]).to.deep.equal([[...none], [...none]]);
    expect((await market.read.claimOf([nowhere]))[0]).to.equal(ClaimStatus.none);
  });

  it("closedOrClaimedJob_hasNoClaim", async () => {
    const { market } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    const claim = {
      job,
      worker: world().worker.account.address,
      root: honestTrace(subject).root,
      collateral: world().parameters.collateral,
    };
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
    await revert(market.write.accept([claim], as("requester")), "WrongClaimStatus");
    await revert(market.write.deliver([claim, delivery()]), "WrongClaimStatus");
    const other = await post({ salt: OTHER_ROOT });
    await market.write.cancel([other], as("requester"));
    await revert(market.write.finalise([{ ...claim, job: other }]), "WrongClaimStatus");
  });

  it("accept_afterTheDelivery_reverts", async () => {
    const claim = await finalised();
    await world().market.write.deliver([claim, delivery()]);
    await revert(world().market.write.accept([claim], as("requester")), "AlreadyPaid");
  });

  it("parameters_areThoseOfTheDeployment", async () => {
    const given = await world().market.read.deployment();
    expect(given.parameters).to.deep.equal(world().parameters);
    const other = await createWorld({ penaltyBps: 10_000, baseWindow: 12, baseClock: 72 });
    expect((await other.market.read.deployment()).parameters).to.deep.equal(other.parameters);
  });
});
