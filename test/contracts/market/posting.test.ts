import { expect } from "chai";
import type { Hex } from "viem";
import { JobStatus } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { RESERVED_TYPES } from "../../../testkit/programs/reserved.ts";
import { marketKit, smallProgram, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { creditOf, factsOf, gasOf, jobId, requestFor } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const subject = smallProgram;

describe("JobMarket: post", () => {
  const world = useWorld();
  const { revert, vaultRevert, as, post, refusedPost, statusOf } = marketKit(world);

  it("post_emitsTermsAndBytes_takesTheFee", async () => {
    const { market, vault, requester } = world();
    const request = await requestFor(world(), subject);
    await market.write.post([request], as("requester"));
    const [published] = await market.getEvents.InputPublished();
    expect(published!.args.data).to.equal(request.inputs[0]);
    const [posted] = await market.getEvents.JobPosted();
    const job = posted!.args.job!;
    expect(job.programRoot).to.equal(subject.commitment.programRoot);
    expect(job.inputsRoot).to.equal(subject.inputsList.root);
    expect(job.deliverables).to.equal(1n);
    expect(posted!.args.jobId).to.equal(jobId(world(), job));
    expect(await market.read.jobIdOf([job])).to.equal(jobId(world(), job));
    expect(await statusOf(job)).to.equal(JobStatus.open);
    expect(await creditOf(world(), requester)).to.equal(19n * ETHER);
    expect(await vault.read.custody()).to.equal(ETHER);
  });

  it("post_ofASmallJob_under200kGas", async () => {
    const { market } = world();
    const gas = await gasOf(world(), await market.write.post([await requestFor(world(), subject)], as("requester")));
    expect(gas < 200_000n, String(gas)).to.equal(true);
  });

  it("post_pictureOf27648Bytes_under2MGas", async () => {
    const { market } = world();
    const picture = Uint8Array.from({ length: 27_648 }, (_, i) => 1 + (i % 255));
    const program = { ...subject.program, inputs: [{ dtype: DType.uint8, count: picture.length }] };
    const facts = factsOf(commitProgram(program));
    const inputRoots = [tensorTree(picture).root];
    const request = await requestFor(world(), subject, { program: facts, inputRoots, inputs: [toHex(picture)] });
    const gas = await gasOf(world(), await market.write.post([request], as("requester")));
    expect(gas < 2_000_000n, String(gas)).to.equal(true);
  });

  it("post_twice_reverts_andSaltTellsApart", async () => {
    const request = await requestFor(world(), subject);
    await world().market.write.post([request], as("requester"));
    await revert(world().market.write.post([request], as("requester")), "JobExists");
    await world().market.write.post([{ ...request, salt: OTHER_ROOT }], as("requester"));
    // The same content from another requester is another job.
    await world().market.write.post([request], as("mallory"));
  });

  it("post_unaffordable_reverts", async () => {
    const request = await requestFor(world(), subject, { fee: 21n * ETHER });
    await vaultRevert(world().market.write.post([request], as("requester")), "InsufficientCredit");
  });

  it("post_wrongBytes_reverts", async () => {
    const bytes = toHex(subject.input);
    await refusedPost("WrongInputRoot", { inputRoots: [OTHER_ROOT] });
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
    await refusedPost("OutputLimitTooHigh", { maxOutputBytes: 65_537 });
  });

  it("post_malformedProgram_reverts", async () => {
    const facts = factsOf(subject.commitment);
    const header = Buffer.from(subject.commitment.header);
    const withHeader = (change: (bytes: Buffer) => void) => {
      const copy = Buffer.from(header);
      change(copy);
      return { program: { ...facts, header: toHex(copy) } };
    };
    await refusedPost("HeaderLength", { program: { ...facts, header: "0x0001" } });
    await refusedPost("HeaderLength", { program: { ...facts, header: `${facts.header}00` } });
    // The 30 bytes that every header has, of a program without inputs and outputs, and one byte less.
    const bare = Buffer.from(header.subarray(0, 30));
    bare.writeUInt32BE(0, 26);
    await refusedPost("EmptyProgram", { program: { ...facts, header: toHex(bare) } });
    await refusedPost("HeaderLength", { program: { ...facts, header: toHex(bare.subarray(0, 29)) } });
    for (const [error, change] of [
      // Another version of the semantics: the one before, and one to come.
      ["UnknownSemantics", (b) => b.writeUInt16BE(1, 0)],
      ["UnknownSemantics", (b) => b.writeUInt16BE(3, 0)],
      ["StepProofTooLarge", (b) => b.writeUInt32BE(12_000_001, 2)],
      ["StepProofTooLong", (b) => b.writeUInt32BE(90_001, 6)],
      // An item has 20,000 beside its program's.
      ["TooMuchWork", (b) => b.writeBigUInt64BE(999_999_980_001n, 10)],
      ["TooMuchWork", (b) => b.writeBigUInt64BE(2n ** 64n - 1n, 10)],
      // Work of 10,000 seconds needs a window of as much more.
      ["WindowOutOfRange", (b) => b.writeBigUInt64BE(999_999_980_000n, 10)],
      ["EmptyProgram", (b) => b.writeUInt32BE(0, 18)],
      ["EmptyProgram", (b) => b.writeUInt32BE(0, 22)],
      ["WrongElementCount", (b) => b.writeBigUInt64BE(0n, 31)],
      ["OutputWithoutCheckpoint", (b) => b.writeUInt32BE(3, 44)],
      ["UnknownElementType", (b) => b.writeUInt8(8, 48)],
      ["WrongElementCount", (b) => b.writeBigUInt64BE(0n, 49)],
    ] as const satisfies readonly (readonly [string, (bytes: Buffer) => void])[]) {
      await refusedPost(error, withHeader(change));
    }
  });

  it("post_reservedNumbersOfAHeader_reverts", async () => {
    const facts = factsOf(subject.commitment);
    const refused = async (error: string, offset: number, bytes: readonly number[]): Promise<void> => {
      const header = Buffer.from(subject.commitment.header);
      header.set(bytes, offset);
      await refusedPost(error, { program: { ...facts, header: toHex(header) } });
    };
    // Element types to come, of the output and of the input.
    for (const dtype of RESERVED_TYPES) {
      await refused("UnknownElementType", 48, [dtype]);
      await refused("UnknownElementType", 30, [dtype]);
    }
    // Sources of inputs and scopes of outputs to come.
    for (const source of [4, 255]) await refused("UnknownInputSource", 39, [source]);
    for (const scope of [2, 255]) await refused("UnknownOutputScope", 57, [scope]);
  });

  it("post_inputFromWhereNoneCanBe_reverts", async () => {
    const facts = factsOf(subject.commitment);
    // After the element type and the count: the source, and the checkpoint that it is carried from.
    const refused = async (error: string, dtype: DType, count: number, source: readonly number[]): Promise<void> => {
      const header = Buffer.from(subject.commitment.header);
      header.writeUInt8(dtype, 30);
      header.writeBigUInt64BE(BigInt(count), 31);
      header.set(source, 39);
      await refusedPost(error, { program: { ...facts, header: toHex(header) } });
    };
    // Three checkpoints.
    await refused("WrongCarriedCheckpoint", DType.int32, 300, [2, 0, 0, 0, 3]);
    await refused("WrongCarriedCheckpoint", DType.int32, 300, [2, 255, 255, 255, 255]);
    // What is not carried comes from no checkpoint: shared, each, index.
    await refused("WrongCarriedCheckpoint", DType.int32, 300, [0, 0, 0, 0, 1]);
    await refused("WrongCarriedCheckpoint", DType.int32, 300, [1, 0, 0, 0, 1]);
    await refused("WrongCarriedCheckpoint", DType.int64, 1, [3, 0, 0, 0, 1]);
    // The index is one int64.
    await refused("IndexNotInt64", DType.int32, 1, [3]);
    await refused("IndexNotInt64", DType.int64, 2, [3]);
    await refused("IndexNotInt64", DType.uint64, 1, [3]);
  });

  it("post_programWithoutOutputs_orWithTooLargeAnInput_reverts", async () => {
    const none = factsOf(commitProgram({ ...subject.program, outputs: [] }));
    await refusedPost("EmptyProgram", { program: none });
    const header = Buffer.from(subject.commitment.header);
    header.writeBigUInt64BE(2n ** 32n, 31);
    await refusedPost("WrongElementCount", { program: { ...factsOf(subject.commitment), header: toHex(header) } });
  });

  it("post_65Outputs_reverts", async () => {
    const many = chainProgram(4, [1], new Array<number>(65).fill(0));
    await refusedPost("TooManyOutputs", {}, many);
  });

  it("post_largeOutput_isNotDeliverable", async () => {
    const job = await post({ maxOutputBytes: 1_199 });
    expect(job.deliverables).to.equal(0n);
  });
});
