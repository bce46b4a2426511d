import { expect } from "chai";
import { zeroAddress } from "viem";
import { JobStatus } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { marketKit, smallProgram } from "../../../testkit/protocol/marketKit.ts";
import { honestTrace } from "../../../testkit/protocol/chainProgram.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { creditOf, factsOf, jobId, submitted } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

describe("JobMarket: what it remembers of a job", () => {
  const world = useWorld();
  const { revert, as, post, statusOf, finalised } = marketKit(world);

  it("jobOf_namesAWorker_onlyWhileItIsToSubmit", async () => {
    const { market } = world();
    const claim = await submitted(world(), smallProgram, honestTrace(smallProgram));
    const [status, worker] = await market.read.jobOf([jobId(world(), claim.job)]);
    expect([status, worker]).to.deep.equal([JobStatus.submitted, zeroAddress]);
  });

  it("jobWithNothingToDeliver_isPaidOnce", async () => {
    const { market, worker } = world();
    const claim = await finalised({ maxOutputBytes: 0 });
    expect(await statusOf(claim.job)).to.equal(JobStatus.complete);
    await revert(market.write.accept([claim], as("requester")), "AlreadyPaid");
    expect(await creditOf(world(), worker)).to.equal(11n * ETHER);
  });

  it("inputOfTwoParts_thatCameWithThePost_isNotPublishedAgain", async () => {
    const { market } = world();
    // One byte more than a part; another input is missing, so that parts may be published at all.
    const bytes = [new Uint8Array(65_537), Uint8Array.of(1)];
    const trees = bytes.map(tensorTree);
    const roots = trees.map(({ root }) => root);
    const inputs = bytes.map(({ length }) => ({ dtype: DType.uint8, count: length }));
    const program = factsOf(commitProgram({ ...smallProgram.program, inputs }));
    const job = await post({ program, inputRoots: roots, inputs: [toHex(bytes[0]!), "0x"] });
    const list = MerkleList.fromHashes(roots);
    const publish = (input: number, part: number) => {
      const data = toHex(bytes[input]!.subarray(65_536 * part));
      const siblings = input === 0 ? trees[0]!.path(part, 7) : [];
      const proof = { input, part, data, siblings, inputRoot: roots[input]!, inputSiblings: list.path(input) };
      return market.write.publishInput([job, program, proof], as("mallory"));
    };
    expect((await market.read.jobOf([jobId(world(), job)]))[3]).to.equal(1n);
    await revert(publish(0, 1), "PartAlreadyPublished");
    await publish(1, 0);
    expect(await statusOf(job)).to.equal(JobStatus.open);
  });
});
