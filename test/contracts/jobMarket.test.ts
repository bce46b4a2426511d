import { expect } from "chai";
import { encodeFunctionData, zeroHash, type Hex } from "viem";
import { submissionOf } from "../../src/chain/game/workerMove.ts";
import { JobStatus, ClaimStatus, type Delivery, type JobRequest } from "../../src/chain/types.ts";
import { toHex } from "../../src/merkle/hash.ts";
import { MerkleList } from "../../src/merkle/list.ts";
import { tensorTree } from "../../src/merkle/tensor.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { commitProgram } from "../../src/program/root.ts";
import { GameDriver } from "../../test-support/protocol/gameDriver.ts";
import { honestTrace, lyingTrace, toyProgram, type Toy } from "../../test-support/protocol/toyProgram.ts";
import { useWorld } from "../../test-support/protocol/useWorld.ts";
import {
  claimKey,
  creditOf,
  ETHER,
  factsOf,
  gasOf,
  jobId,
  postJob,
  SINK,
  submitted,
  toyRequest,
} from "../../test-support/protocol/world.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
const world = useWorld();
const toy = toyProgram(300, [3, 1, 2]);
const revert = (sent: Promise<unknown>, name: string): Promise<void> =>
  world().viem.assertions.revertWithCustomError(sent, world().market, name as never);
const vaultRevert = (sent: Promise<unknown>, name: string): Promise<void> =>
  world().viem.assertions.revertWithCustomError(sent, world().vault, name as never);
const as = (name: "worker" | "watcher" | "requester" | "mallory") => ({ account: world()[name].account });
const post = async (changes: Partial<JobRequest> = {}, of: Toy = toy) =>
  postJob(world(), await toyRequest(world(), of, changes));
const refusedPost = async (name: string, changes: Partial<JobRequest>, of: Toy = toy) =>
  revert(world().market.write.post([await toyRequest(world(), of, changes)], as("requester")), name);
const statusOf = async (job: Parameters<typeof jobId>[1]) =>
  (await world().market.read.jobOf([jobId(world(), job)]))[0];
const NODES = submissionOf(honestTrace(toy), 4);
const gameRevert = (sent: Promise<unknown>, name: string): Promise<void> =>
  world().viem.assertions.revertWithCustomError(sent, world().game, name as never);
const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);

/** Submits an honest claim and finalises it. */
async function finalised(changes: Partial<JobRequest> = {}, of: Toy = toy) {
  const claim = await submitted(world(), of, honestTrace(of), changes);
  await pass(1_801);
  await world().market.write.finalise([claim]);
  return claim;
}

function delivery(of: Toy = toy, output = 0): Delivery {
  const trace = honestTrace(of);
  const checkpoint = of.program.outputs[output]!;
  return {
    program: factsOf(of.commitment),
    output,
    data: toHex(trace.tensor(of.program.checkpoints[checkpoint]!.step)),
    siblings: trace.list.path(checkpoint),
  };
}

describe("JobMarket: post", () => {
  it("post_emitsTermsAndBytes_takesTheFee", async () => {
    const { market, client, vault, requester } = world();
    const request = await toyRequest(world(), toy);
    const hash = await market.write.post([request], as("requester"));
    const [published] = await market.getEvents.InputPublished();
    expect(published!.args.data).to.equal(request.inputs[0]);
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    expect(job.programRoot).to.equal(toy.commitment.programRoot);
    expect(job.inputsRoot).to.equal(toy.inputsList.root);
    expect(job.deliverables).to.equal(1n);
    expect(posted!.args.jobId).to.equal(jobId(world(), job));
    expect(await market.read.jobIdOf([job])).to.equal(jobId(world(), job));
    expect(await statusOf(job)).to.equal(JobStatus.open);
    expect(await creditOf(world(), requester)).to.equal(19n * ETHER);
    expect(await vault.read.custody()).to.equal(ETHER);
    expect((await client.getTransactionReceipt({ hash })).gasUsed < 200_000n).to.equal(true);
  });

  it("post_pictureOf27648Bytes_under2MGas", async () => {
    const { market } = world();
    const picture = Uint8Array.from({ length: 27_648 }, (_, i) => 1 + (i % 255));
    const program = { ...toy.program, inputs: [{ dtype: DType.uint8, count: picture.length }] };
    const facts = factsOf(commitProgram(program));
    const inputRoots = [tensorTree(picture).root];
    const request = await toyRequest(world(), toy, { program: facts, inputRoots, inputs: [toHex(picture)] });
    const gas = await gasOf(world(), await market.write.post([request], as("requester")));
    expect(gas < 2_000_000n, String(gas)).to.equal(true);
  });

  it("post_twice_reverts_andSaltTellsApart", async () => {
    const request = await toyRequest(world(), toy);
    await world().market.write.post([request], as("requester"));
    await revert(world().market.write.post([request], as("requester")), "JobExists");
    await world().market.write.post([{ ...request, salt: ROOT }], as("requester"));
    // The same content from another requester is another job.
    await world().market.write.post([request], as("mallory"));
  });

  it("post_unaffordable_reverts", async () => {
    const request = await toyRequest(world(), toy, { fee: 21n * ETHER });
    await vaultRevert(world().market.write.post([request], as("requester")), "InsufficientCredit");
  });

  it("post_wrongBytes_reverts", async () => {
    const bytes = toHex(toy.input);
    await refusedPost("WrongInputRoot", { inputRoots: [ROOT] });
    await refusedPost("WrongInputLength", { inputs: [bytes.slice(0, -2) as Hex] });
    await refusedPost("WrongInputLength", { inputs: [`${bytes}00`] });
    await refusedPost("WrongInputCount", { inputRoots: [] });
    await refusedPost("WrongInputCount", { inputs: [bytes, bytes] });
    await refusedPost("RootOnlyWithBytes", { rootOnly: true });
  });

  it("post_badTerms_reverts", async () => {
    const now = await world().networkHelpers.time.latest();
    await refusedPost("WindowOutOfRange", { window: 1_799 });
    await refusedPost("WindowOutOfRange", { window: 86_401 });
    await refusedPost("ZeroClaimSeconds", { claimSeconds: 0 });
    await refusedPost("DeadlineTooSoon", { deadline: BigInt(now + 500) });
    await refusedPost("DeadlineTooFar", { deadline: BigInt(now + 366 * 86_400) });
    await refusedPost("CallbackGasTooHigh", { callbackGas: 2_000_001 });
    await refusedPost("OutputLimitTooHigh", { maxOutputBytes: 131_073 });
  });

  it("post_malformedProgram_reverts", async () => {
    const facts = factsOf(toy.commitment);
    const header = Buffer.from(toy.commitment.header);
    const withHeader = (change: (bytes: Buffer) => void) => {
      const copy = Buffer.from(header);
      change(copy);
      return { program: { ...facts, header: toHex(copy) } };
    };
    await refusedPost("HeaderLength", { program: { ...facts, header: "0x0001" } });
    await refusedPost("HeaderLength", { program: { ...facts, header: `${facts.header}00` } });
    await refusedPost(
      "UnknownSemantics",
      withHeader((b) => b.writeUInt16BE(2, 0)),
    );
    await refusedPost(
      "StepProofTooLarge",
      withHeader((b) => b.writeUInt32BE(12_000_001, 2)),
    );
    await refusedPost(
      "TooMuchWork",
      withHeader((b) => b.writeBigUInt64BE(1_000_000_000_001n, 6)),
    );
    // Work of 10,000 seconds needs a window of as much more.
    await refusedPost(
      "WindowOutOfRange",
      withHeader((b) => b.writeBigUInt64BE(1_000_000_000_000n, 6)),
    );
    await refusedPost(
      "EmptyProgram",
      withHeader((b) => b.writeUInt32BE(0, 14)),
    );
    await refusedPost(
      "EmptyProgram",
      withHeader((b) => b.writeUInt32BE(0, 18)),
    );
    await refusedPost(
      "OutputWithoutCheckpoint",
      withHeader((b) => b.writeUInt32BE(3, 35)),
    );
    await refusedPost(
      "UnknownElementType",
      withHeader((b) => b.writeUInt8(8, 39)),
    );
    await refusedPost(
      "WrongElementCount",
      withHeader((b) => b.writeBigUInt64BE(0n, 40)),
    );
    await refusedPost(
      "WrongElementCount",
      withHeader((b) => b.writeBigUInt64BE(0n, 27)),
    );
  });

  it("post_65Outputs_reverts", async () => {
    const many = toyProgram(4, [1], new Array<number>(65).fill(0));
    await refusedPost("TooManyOutputs", {}, many);
  });

  it("post_largeOutput_isNotDeliverable", async () => {
    const job = await post({ maxOutputBytes: 1_199 });
    expect(job.deliverables).to.equal(0n);
  });
});

describe("JobMarket: input in parts", () => {
  // 512 chunks and 3 bytes: three parts.
  const input = Uint8Array.from({ length: 2 * 131_072 + 3 }, (_, i) => (i * 7) & 0xff);
  const tree = tensorTree(input);
  const small = Uint8Array.of(1, 2, 3);
  const list = MerkleList.fromHashes([tree.root, tensorTree(small).root]);
  const program = {
    ...toy.program,
    inputs: [
      { dtype: DType.uint8, count: input.length },
      { dtype: DType.uint8, count: 3 },
    ],
  };
  const facts = factsOf(commitProgram(program));
  const part = (number: number) => ({
    input: 0,
    part: number,
    data: toHex(input.subarray(number * 131_072, (number + 1) * 131_072)),
    siblings: tree.path(number, 8),
    inputRoot: tree.root,
    inputSiblings: list.path(0),
  });
  const large = () =>
    post({ program: facts, inputRoots: [tree.root, tensorTree(small).root], inputs: ["0x", toHex(small)] });

  it("publishInput_allParts_opensTheJob", async function () {
    const { market } = world();
    const job = await large();
    expect(await statusOf(job)).to.equal(JobStatus.awaitingInput);
    await revert(market.write.claim([job], as("worker")), "WrongJobStatus");
    for (const number of [2, 0, 1]) {
      expect(await statusOf(job)).to.equal(JobStatus.awaitingInput);
      const gas = await gasOf(world(), await market.write.publishInput([job, facts, part(number)], as("mallory")));
      expect(gas < 12_000_000n, String(gas)).to.equal(true);
    }
    expect(await statusOf(job)).to.equal(JobStatus.open);
    await market.write.claim([job], as("worker"));
  });

  it("publishInput_twiceOrWrong_reverts", async () => {
    const { market } = world();
    const job = await large();
    const publish = (p: ReturnType<typeof part>) => market.write.publishInput([job, facts, p], as("mallory"));
    await publish(part(2));
    await revert(publish(part(2)), "PartAlreadyPublished");
    await revert(publish({ ...part(2), part: 3 }), "NoSuchPart");
    await revert(publish({ ...part(2), part: 0 }), "WrongInputLength");
    await revert(publish({ ...part(2), data: "0x010203" }), "WrongInputRoot");
    await revert(publish({ ...part(2), siblings: [] }), "SiblingCount");
    await revert(publish({ ...part(2), inputSiblings: [ROOT] }), "WrongInputRoot");
    await revert(publish({ ...part(2), input: 1 }), "NoSuchPart");
    await revert(publish({ ...part(2), input: 2 }), "InputOutOfRange");
    const whole = { ...part(0), input: 1, data: toHex(small), siblings: [], inputRoot: tensorTree(small).root };
    // What came with the post does not count again.
    await revert(publish({ ...whole, inputSiblings: list.path(1) }), "PartAlreadyPublished");
    const other = factsOf(toy.commitment);
    await revert(market.write.publishInput([job, other, part(0)], as("mallory")), "WrongProgram");
  });

  it("publishInput_openJob_reverts", async () => {
    const job = await post();
    const p = { ...part(0), data: toHex(toy.input) };
    await revert(world().market.write.publishInput([job, factsOf(toy.commitment), p]), "WrongJobStatus");
  });

  it("rootOnly_opensAtOnce", async () => {
    const job = await post({ rootOnly: true, inputs: [] });
    expect(await statusOf(job)).to.equal(JobStatus.open);
  });
});

describe("JobMarket: claim and submit", () => {
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
    await revert(market.write.submit([job, NODES], as("worker")), "WrongJobStatus");
    await market.write.claim([job], as("worker"));
    await gameRevert(market.write.submit([job, zeroHash], as("worker")), "WrongDataLength");
    await revert(market.write.submit([job, NODES], as("mallory")), "NotWorker");
    const late = await world().networkHelpers.takeSnapshot();
    await pass(700);
    await revert(market.write.submit([job, NODES], as("worker")), "TimeIsUp");
    await late.restore();
    await market.write.submit([job, NODES], as("worker"));
    await revert(market.write.submit([job, NODES], as("worker")), "WrongJobStatus");
  });

  it("submit_nodesThatAreNoTrace_reverts", async () => {
    const { market } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    const submit = (nodes: Hex) => market.write.submit([job, nodes], as("worker"));
    await gameRevert(submit(`${NODES}${"00".repeat(32)}`), "WrongDataLength");
    await gameRevert(submit("0x"), "WrongDataLength");
    // Three checkpoints: the fourth node is padding.
    await gameRevert(submit(`${NODES.slice(0, -64)}${ROOT.slice(2)}` as Hex), "PaddingNotZero");
    const single = toyProgram(8, [3]);
    const one = await post({}, single);
    await market.write.claim([one], as("worker"));
    await revert(market.write.submit([one, zeroHash], as("worker")), "ZeroTraceRoot");
  });

  it("submit_attestationLapsed_accepted", async () => {
    const { market, provisioning, registrar, manufacturer } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    await provisioning.write.revokeManufacturer([manufacturer.id], { account: registrar.account });
    await market.write.submit([job, NODES], as("worker"));
    expect(await statusOf(job)).to.equal(JobStatus.submitted);
  });
});

describe("JobMarket: expire and cancel", () => {
  it("expire_missedSubmission_freesTheJobAndCostsTheWorker", async () => {
    const { market, vault, worker, parameters } = world();
    const job = await post();
    await market.write.claim([job], as("worker"));
    await revert(market.write.expire([job]), "TimeNotUp");
    await pass(601);
    await market.write.expire([job], as("mallory"));
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

describe("JobMarket: finalise, deliver, accept", () => {
  it("deliver_afterTheWindow_finalisesToo", async () => {
    const { market, vault, worker } = world();
    const claim = await submitted(world(), toy, honestTrace(toy));
    await revert(market.write.deliver([claim, delivery()]), "WindowOpen");
    await pass(1_801);
    await market.write.deliver([claim, delivery()], as("mallory"));
    expect(await statusOf(claim.job)).to.equal(JobStatus.complete);
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(0n);
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
  });

  it("deliver_whileAGameIsOpen_reverts", async () => {
    const trace = honestTrace(toy);
    const claim = await submitted(world(), toy, trace);
    await new GameDriver(world(), toy, trace, claim).open();
    await pass(1_801);
    await revert(world().market.write.deliver([claim, delivery()]), "GamesOpen");
  });

  it("honestJob_under300kGasWithoutInputs_paysTheWorker", async () => {
    const { market, worker, vault } = world();
    // 32 bytes of input and output, one checkpoint.
    const tiny = toyProgram(8, [3]);
    const gas: bigint[] = [];
    const spend = async (sent: Promise<Hex>) => gas.push(await gasOf(world(), await sent));
    const request = await toyRequest(world(), tiny);
    await spend(market.write.post([request], as("requester")));
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    await spend(market.write.claim([job], as("worker")));
    await spend(market.write.submit([job, submissionOf(honestTrace(tiny), 4)], as("worker")));
    const claim = { job, worker: worker.account.address, traceRoot: honestTrace(tiny).root };
    await pass(1_801);
    await spend(market.write.deliver([claim, delivery(tiny)]));
    expect((await vault.read.accountOf([worker.account.address]))[2]).to.equal(0n);
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
    const total = gas.reduce((a, b) => a + b);
    expect(total <= 300_000n, gas.join(" + ")).to.equal(true);
  });

  it("finalise_tooEarlyTwiceOrUnknown_reverts", async () => {
    const { market } = world();
    const claim = await submitted(world(), toy, honestTrace(toy));
    await revert(market.write.finalise([claim]), "WindowOpen");
    await pass(1_801);
    await revert(market.write.finalise([{ ...claim, traceRoot: ROOT }]), "WrongClaimStatus");
    await market.write.finalise([claim]);
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
  });

  it("finalise_withAnOpenGame_reverts", async () => {
    const claim = await submitted(world(), toy, honestTrace(toy));
    await new GameDriver(world(), toy, honestTrace(toy), claim).open();
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
    await revert(send({ data: `${d.data.slice(0, -2)}ff` as Hex }), "OutputNotInTrace");
    await revert(send({ siblings: d.siblings.slice(1) }), "SiblingCount");
    await revert(send({ siblings: [...d.siblings, ROOT] }), "SiblingCount");
    await revert(send({ program: { ...d.program, stepsRoot: ROOT } }), "WrongProgram");
  });

  it("deliver_anotherCheckpointAsOutput_reverts", async () => {
    // The attack of an honest trace with a wrong leaf as its output.
    const trace = honestTrace(toy);
    const claim = await finalised();
    const data = toHex(trace.tensor(3));
    const sent = world().market.write.deliver([claim, { ...delivery(), data, siblings: trace.list.path(1) }]);
    await revert(sent, "OutputNotInTrace");
  });

  it("deliver_beforeFinalisation_reverts", async () => {
    const claim = await submitted(world(), toy, honestTrace(toy));
    await revert(world().market.write.deliver([claim, delivery()]), "WindowOpen");
    await revert(world().market.write.deliver([{ ...claim, traceRoot: ROOT }, delivery()]), "WrongClaimStatus");
  });

  it("deliver_twice_reverts", async () => {
    const claim = await finalised();
    await world().market.write.deliver([claim, delivery()], as("mallory"));
    await revert(world().market.write.deliver([claim, delivery()]), "AlreadyDelivered");
  });

  it("deliver_twoOutputs_feeWithTheLast", async () => {
    const two = toyProgram(300, [3, 1, 2], [0, 2]);
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
    const lie = lyingTrace(toy, 4, 17);
    const claim = await submitted(world(), toy, lie);
    const game = new GameDriver(world(), toy, lie, claim);
    await (await game.descend(2, 4, 17)).prove(17);
    expect((await market.read.claimOf([claimKey(world(), claim)]))[0]).to.equal(ClaimStatus.refuted);
    expect(await statusOf(claim.job)).to.equal(JobStatus.open);
    await pass(1_801);
    await revert(market.write.finalise([claim]), "WrongClaimStatus");
    await market.write.claim([claim.job], as("worker"));
    await revert(market.write.submit([claim.job, submissionOf(lie, 4)], as("worker")), "ClaimExists");
    await market.write.submit([claim.job, NODES], as("worker"));
  });
});

describe("JobMarket: callbacks", () => {
  const MOOD = { take: 0, revert: 1, burnGas: 2, returnBomb: 3, reenter: 4 } as const;

  /** A finalised job of a requester contract in some mood. */
  async function moody(mood: number, callbackGas = 1_500_000) {
    const { viem, market, vault, token } = world();
    const consumer = await viem.deployContract("MoodyRequester", [market.address]);
    await token.write.mint([world().mallory.account.address, ETHER]);
    await vault.write.deposit([consumer.address, ETHER], as("mallory"));
    await consumer.write.setMood([mood]);
    const request = await toyRequest(world(), toy, { callbackGas });
    await consumer.write.post([request]);
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    await market.write.claim([job], as("worker"));
    const traceRoot = honestTrace(toy).root;
    await market.write.submit([job, NODES], as("worker"));
    const claim = { job, worker: world().worker.account.address, traceRoot };
    await pass(1_801);
    await market.write.finalise([claim]);
    return { consumer, claim };
  }

  it("deliver_callsTheRequesterWithFixedGas", async () => {
    const { consumer, claim } = await moody(MOOD.take);
    await world().market.write.deliver([claim, delivery()]);
    expect(await consumer.read.lastResult()).to.equal(delivery().data);
    const seen = await consumer.read.gasSeen();
    expect(seen > 1_480_000n && seen <= 1_500_000n, String(seen)).to.equal(true);
    await revert(world().market.write.deliver([claim, delivery()]), "AlreadyDelivered");
  });

  for (const mood of ["revert", "burnGas", "returnBomb"] as const) {
    it(`deliver_callbackWould_${mood}_feeIsPaidAndCallCanBeRepeated`, async () => {
      const { consumer, claim } = await moody(MOOD[mood]);
      await world().market.write.deliver([claim, delivery()]);
      expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
      expect(await world().market.getEvents.CallbackFailed()).to.have.length(1);
      await consumer.write.setMood([MOOD.take]);
      await world().market.write.deliver([claim, delivery()], as("mallory"));
      expect(await consumer.read.results()).to.equal(1n);
      expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
      await revert(world().market.write.deliver([claim, delivery()]), "AlreadyDelivered");
    });
  }

  it("deliver_callbackReenters_oneResultOnePayment", async () => {
    const { consumer, claim } = await moody(MOOD.reenter, 2_000_000);
    const { market } = world();
    const args = [claim, delivery()] as const;
    await consumer.write.setReentry([encodeFunctionData({ abi: market.abi, functionName: "deliver", args })]);
    await market.write.deliver(args, { gas: 8_000_000n });
    expect(await consumer.read.results()).to.equal(1n);
    expect(await consumer.read.reentrySucceeded()).to.equal(false);
    expect(await creditOf(world(), world().worker)).to.equal(11n * ETHER);
  });

  it("deliver_withTooLittleGasForTheCallback_reverts", async () => {
    const { claim } = await moody(MOOD.take, 1_000_000);
    const sent = world().market.write.deliver([claim, delivery()], { gas: 900_000n });
    await revert(sent, "TooLittleGas");
  });
});

describe("JobMarket: what only the game may do", () => {
  it("gameCalls_byAnybodyElse_revert", async () => {
    const { market, mallory } = world();
    const { address } = mallory.account;
    await revert(market.write.gameOpened([ROOT, ROOT, address, 0n], as("mallory")), "NotGame");
    await revert(market.write.pay([address, 1n], as("mallory")), "NotGame");
    await revert(market.write.refuted([ROOT, ROOT, address], as("mallory")), "NotGame");
  });
});
