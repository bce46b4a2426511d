import { expect } from "chai";
import { JobStatus } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { tensorTree } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { commitProgram } from "../../../src/program/root.ts";
import { marketKit, smallProgram, OTHER_ROOT } from "../../../testkit/protocol/marketKit.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { factsOf, gasOf, jobId } from "../../../testkit/protocol/world.ts";

const subject = smallProgram;

describe("JobMarket: input in parts", () => {
  const world = useWorld();
  const { revert, as, post, statusOf } = marketKit(world);

  // 256 chunks and 3 bytes: three parts.
  const input = Uint8Array.from({ length: 2 * 65_536 + 3 }, (_, i) => (i * 7) & 0xff);
  const tree = tensorTree(input);
  const small = Uint8Array.of(1, 2, 3);
  const list = MerkleList.fromHashes([tree.root, tensorTree(small).root]);
  const program = {
    ...subject.program,
    inputs: [
      { dtype: DType.uint8, count: input.length },
      { dtype: DType.uint8, count: 3 },
    ],
  };
  const facts = factsOf(commitProgram(program));
  const part = (number: number) => ({
    input: 0,
    part: number,
    data: toHex(input.subarray(number * 65_536, (number + 1) * 65_536)),
    siblings: tree.path(number, 7),
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
    await revert(publish({ ...part(2), inputSiblings: [OTHER_ROOT] }), "WrongInputRoot");
    await revert(publish({ ...part(2), input: 1 }), "NoSuchPart");
    await revert(publish({ ...part(2), input: 2 }), "InputOutOfRange");
    const whole = { ...part(0), input: 1, data: toHex(small), siblings: [], inputRoot: tensorTree(small).root };
    // What came with the post does not count again.
    await revert(publish({ ...whole, inputSiblings: list.path(1) }), "PartAlreadyPublished");
    const other = factsOf(subject.commitment);
    await revert(market.write.publishInput([job, other, part(0)], as("mallory")), "WrongProgram");
  });

  it("publishInput_openJob_reverts", async () => {
    const job = await post();
    const p = { ...part(0), data: toHex(subject.input) };
    await revert(world().market.write.publishInput([job, factsOf(subject.commitment), p]), "WrongJobStatus");
  });

  it("parts_areAsManyAsTheBytesNeed_alsoOfWholeParts", async () => {
    const { market } = world();
    for (const [bytes, parts] of [
      [65_535, 1n],
      [65_536, 1n],
      [65_537, 2n],
      [131_071, 2n],
      [131_072, 2n],
      [131_073, 3n],
    ] as const) {
      const ofBytes = { ...subject.program, inputs: [{ dtype: DType.uint8, count: bytes }] };
      const job = await post({ program: factsOf(commitProgram(ofBytes)), inputRoots: [OTHER_ROOT], inputs: [] });
      const missing = (await market.read.jobOf([jobId(world(), job)])).at(-1);
      expect(missing, `${bytes} bytes`).to.equal(parts);
    }
  });

  it("rootOnly_opensAtOnce", async () => {
    const job = await post({ rootOnly: true, inputs: [] });
    expect(await statusOf(job)).to.equal(JobStatus.open);
  });
});
