import { expect } from "chai";
import type { Hex } from "viem";
import { JobStatus, type InputPart, type Job, type JobRequest } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { tensorTree, zeroRoot } from "../../../src/program/merkle/tensor.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { commitProgram } from "../../../src/program/root.ts";
import type { Program } from "../../../src/program/types.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { runProgram } from "../../../testkit/programs/runProgram.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { factsOf, gasOf, jobId, postedJob, usualTerms } from "../../../testkit/protocol/world.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
const PART = 65_536;
/** Levels of a full part. */
const LEVELS = 7;
const ITEMS = 3;
const [EACH, SHARED, INDEX] = [0, 1, 2];
const sources: Program["inputs"] = [
  { dtype: DType.uint8, count: 1_200, source: { kind: "each" } },
  { dtype: DType.uint8, count: 700 },
  { dtype: DType.int64, count: 1, source: { kind: "index" } },
];

/** A program with these inputs, of which nothing is executed. */
function factsWith(inputs: Program["inputs"]) {
  return factsOf(commitProgram({ ...runProgram().model.program, inputs }));
}

const bytes = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * seed + (i >> 8) + 3 * (i >> 16)) & 0xff);

describe("JobMarket: inputs of a run", () => {
  const world = useWorld();
  const requester = () => ({ account: world().requester.account });

  /** What is posted: whole by default. */
  const request = async (
    of: Program["inputs"],
    run: RunInputs,
    changes: Partial<JobRequest> = {},
  ): Promise<JobRequest> => ({
    program: factsWith(of),
    inputRoots: run.roots,
    inputs: changes.inputs ?? of.map((_, k) => toHex(Buffer.concat(run.tensors(k)))),
    ...(await usualTerms(world())),
    items: run.length.items,
    window: 80_000,
    maxOutputBytes: 0,
    ...changes,
  });
  const statusOf = async (job: Job): Promise<number> => (await world().market.read.jobOf([jobId(world(), job)]))[0];
  const missingOf = async (job: Job): Promise<bigint> => (await world().market.read.jobOf([jobId(world(), job)]))[3];

  describe("whole", () => {
    const run = new RunInputs(sources, { items: ITEMS, firstItem: 0 }, [
      bytes(3_600, 7),
      bytes(700, 3),
      new Uint8Array(0),
    ]);
    const refusal = async (changes: Partial<JobRequest>): Promise<string> =>
      refusalOf(world().market.write.post([await request(sources, run, changes)], requester()));
    const withInput = (k: number, data: Uint8Array): { inputs: Hex[] } => ({
      inputs: sources.map((_, i) => toHex(i === k ? data : Buffer.concat(run.tensors(i)))),
    });

    it("rightBytes_openTheJob", async () => {
      const hash = await world().market.write.post([await request(sources, run)], requester());
      const job = await postedJob(world(), hash);
      expect(await statusOf(job)).to.equal(JobStatus.open);
      expect(job.inputsRoot).to.equal(run.list.root);
      const events = await world().market.getEvents.InputPublished();
      expect(events.map(({ args }) => [Number(args.input), args.part])).to.deep.equal([
        [EACH, 0n],
        [SHARED, 0n],
      ]);
    });

    it("bytesOfAnotherLength_areRefused", async () => {
      for (const length of [1_200, 2_400, 3_599, 3_601, 4_800])
        expect(await refusal(withInput(EACH, bytes(length, 7)))).to.match(
          new RegExp(`WrongInputLength\\(0, ${length}, 3600\\)`),
        );
      expect(await refusal({ items: 2 })).to.match(/WrongInputLength\(0, 3600, 2400\)/);
      expect(await refusal(withInput(SHARED, bytes(2_100, 3)))).to.match(/WrongInputLength\(1, 2100, 700\)/);
    });

    it("tensorsOfTwoItemsSwapped_orOneByteOther_areRefused", async () => {
      const [a, b, c] = run.tensors(EACH) as [Uint8Array, Uint8Array, Uint8Array];
      for (const order of [
        [b, a, c],
        [a, c, b],
        [a, a, c],
      ])
        expect(await refusal(withInput(EACH, Buffer.concat(order)))).to.match(/WrongInputRoot\(0,/);
      for (const at of [0, 1_199, 1_200, 3_599]) {
        const other = Uint8Array.from(Buffer.concat([a, b, c]));
        other[at]! ^= 1;
        expect(await refusal(withInput(EACH, other))).to.match(/WrongInputRoot\(0,/);
      }
      // All bytes as one tensor have another root.
      const { root } = tensorTree(Buffer.concat([a, b, c]));
      expect(await refusal({ inputRoots: [root, ...run.roots.slice(1)] })).to.match(/WrongInputRoot\(0,/);
    });

    it("anythingOfTheIndex_isRefused", async () => {
      for (const length of [1, 8, 24])
        expect(await refusal(withInput(INDEX, bytes(length, 1)))).to.match(
          new RegExp(`WrongInputLength\\(2, ${length}, 0\\)`),
        );
      const roots = [...run.roots.slice(0, INDEX), ROOT];
      expect(await refusal({ inputRoots: roots })).to.match(/WrongInputRoot\(2,/);
      expect(await refusal({ inputRoots: roots, inputs: [] })).to.match(/WrongInputRoot\(2,/);
    });
  });

  describe("in parts", () => {
    /** Tensors of two parts and 5 bytes of a third. */
    const length = 2 * PART + 5;
    const large: Program["inputs"] = [
      { dtype: DType.uint8, count: length, source: { kind: "each" } },
      { dtype: DType.uint8, count: 700 },
      { dtype: DType.int64, count: 1, source: { kind: "index" } },
      { dtype: DType.uint8, count: 9, source: { kind: "carried", checkpoint: 0 } },
    ];
    const run = new RunInputs(large, { items: ITEMS, firstItem: 0 }, [
      bytes(ITEMS * length, 11),
      bytes(700, 3),
      new Uint8Array(0),
      bytes(9, 5),
    ]);
    const facts = factsWith(large);

    const part = (input: number, item: number, number: number): InputPart => {
      const tensor = run.tensors(input)[item]!;
      const tree = tensorTree(tensor);
      return {
        input,
        part: item * Math.ceil(tensor.length / PART) + number,
        data: toHex(tensor.subarray(number * PART, (number + 1) * PART)),
        siblings: tree.path(number, Math.min(tree.depth, LEVELS)),
        inputRoot: tree.root,
        inputSiblings: run.path(input, item),
      };
    };
    const all = (): InputPart[] => [
      ...Array.from({ length: ITEMS }, (_, item) => [0, 1, 2].map((k) => part(EACH, item, k))).flat(),
      part(SHARED, 0, 0),
      part(3, 0, 0),
    ];
    const post = async (changes: Partial<JobRequest> = { inputs: [] }): Promise<Job> =>
      postedJob(world(), await world().market.write.post([await request(large, run, changes)], requester()));
    const publish = (job: Job, p: InputPart): Promise<Hex> =>
      world().market.write.publishInput([job, facts, p], { account: world().mallory.account });
    const refusal = (job: Job, p: InputPart): Promise<string> => refusalOf(publish(job, p));

    it("allPartsOfAllItems_byAnybody_inAnyOrder_openTheJob", async function () {
      const job = await post();
      const parts = all();
      expect(await missingOf(job)).to.equal(BigInt(parts.length));
      for (const [k, p] of parts.reverse().entries()) {
        expect(await statusOf(job)).to.equal(JobStatus.awaitingInput);
        expect(await missingOf(job)).to.equal(BigInt(parts.length - k));
        const gas = await gasOf(world(), await publish(job, p));
        expect(gas < 12_000_000n, String(gas)).to.equal(true);
        if (k < parts.length - 1) expect(await refusal(job, p)).to.match(/PartAlreadyPublished/);
      }
      expect(await statusOf(job)).to.equal(JobStatus.open);
      expect(await refusal(job, parts[0]!)).to.match(/WrongJobStatus/);
    });

    it("partsPastTheLastItem_areRefused", async () => {
      const job = await post();
      for (const beyond of [9, 10, 11, 2 ** 32 - 1])
        expect(await refusal(job, { ...part(EACH, 2, 2), part: beyond })).to.match(
          new RegExp(`NoSuchPart\\(0, ${beyond}\\)`),
        );
      expect(await refusal(job, { ...part(SHARED, 0, 0), part: 1 })).to.match(/NoSuchPart\(1, 1\)/);
      expect(await refusal(job, { ...part(3, 0, 0), part: 1 })).to.match(/NoSuchPart\(3, 1\)/);
      expect(await refusal(job, { ...part(SHARED, 0, 0), input: INDEX })).to.match(/NoSuchPart\(2, 0\)/);
      expect(await refusal(job, { ...part(SHARED, 0, 0), input: 4 })).to.match(/InputOutOfRange/);
    });

    it("partOfAnotherItem_orByAnotherPath_isRefused", async () => {
      const job = await post();
      const right = part(EACH, 1, 1);
      for (const other of [part(EACH, 0, 1), part(EACH, 2, 1)]) {
        // Under the number of the right item, then with its path.
        expect(await refusal(job, { ...other, part: right.part })).to.match(/WrongInputRoot/);
        const { inputSiblings } = right;
        expect(await refusal(job, { ...other, part: right.part, inputSiblings })).to.match(/WrongInputRoot/);
        expect(await refusal(job, { ...right, data: other.data })).to.match(/WrongInputRoot/);
      }
      expect(await refusal(job, { ...part(EACH, 1, 0), part: right.part })).to.match(/WrongInputRoot/);
      expect(await refusal(job, { ...part(EACH, 1, 2), part: right.part })).to.match(/WrongInputLength/);
      const { inputSiblings } = right;
      const cut = { ...right, inputSiblings: inputSiblings.slice(0, 1) };
      expect(await refusal(job, cut)).to.match(/PathTooShort\(1, 2\)/);
      expect(await refusal(job, { ...right, inputSiblings: inputSiblings.slice(1) })).to.match(/SiblingCount/);
      expect(await refusal(job, { ...right, inputSiblings: [...inputSiblings, ROOT] })).to.match(/SiblingCount/);
      // The list of the items' tensors is no tensor.
      const list = { inputRoot: run.roots[EACH]!, inputSiblings: run.list.path(EACH) };
      expect(await refusal(job, { ...right, ...list })).to.match(/SiblingCount|WrongInputRoot/);
      await publish(job, right);
    });

    it("whatCameWhole_isNotPublishedAgain_whileOthersComeInParts", async () => {
      const some: Hex[] = ["0x", toHex(run.tensors(SHARED)[0]!), "0x", "0x"];
      const job = await post({ inputs: some });
      expect(await missingOf(job)).to.equal(10n);
      expect(await refusal(job, part(SHARED, 0, 0))).to.match(/PartAlreadyPublished\(1, 0\)/);
      for (const p of all().filter(({ input }) => input !== SHARED)) await publish(job, p);
      expect(await statusOf(job)).to.equal(JobStatus.open);
    });
  });

  describe("state that begins with zeros", () => {
    const state = (count: number): Program["inputs"][number] => ({
      dtype: DType.uint8,
      count,
      source: { kind: "carried", checkpoint: 0 },
    });
    const rootsOnly = (...roots: Hex[]) => ({ length: { items: 4, firstItem: 0 }, roots }) as unknown as RunInputs;

    it("isNotMissing_whateverItsSize", async () => {
      for (const count of [1, 512, 513, 1_025, 1_537, 65_537, 2 ** 30, 2 ** 32 - 1]) {
        const of = [state(count)];
        const run = rootsOnly(zeroRoot(count));
        const hash = await world().market.write.post([await request(of, run, { inputs: [] })], requester());
        expect(await statusOf(await postedJob(world(), hash))).to.equal(JobStatus.open);
        // The root of zeros of another length is some other state's.
        const other = await request(of, rootsOnly(zeroRoot(count + 512)), { inputs: [] });
        const posted = await postedJob(world(), await world().market.write.post([other], requester()));
        expect(await statusOf(posted)).to.equal(JobStatus.awaitingInput);
      }
    });

    it("isNeitherPosted_norPublished", async () => {
      const of = [state(600), { dtype: DType.uint8, count: 700 }] as const;
      const shared = bytes(700, 3);
      const run = new RunInputs(of, { items: 4, firstItem: 0 }, [new Uint8Array(600), shared]);
      const whole = { inputs: [toHex(new Uint8Array(600)), toHex(shared)] };
      const refusal = refusalOf(world().market.write.post([await request(of, run, whole)], requester()));
      expect(await refusal).to.match(/WrongInputLength\(0, 600, 0\)/);
      const job = await postedJob(
        world(),
        await world().market.write.post([await request(of, run, { inputs: [] })], requester()),
      );
      expect(await missingOf(job)).to.equal(1n);
      const part = (input: number, data: Hex): InputPart => {
        const { root } = tensorTree(run.tensors(input)[0]!);
        return { input, part: 0, data, siblings: [], inputRoot: root, inputSiblings: run.path(input, 0) };
      };
      const publish = (p: InputPart): Promise<Hex> =>
        world().market.write.publishInput([job, factsWith(of), p], requester());
      expect(await refusalOf(publish(part(0, toHex(new Uint8Array(600)))))).to.match(/PartAlreadyPublished\(0, 0\)/);
      await publish(part(1, toHex(shared)));
      expect(await statusOf(job)).to.equal(JobStatus.open);
    });

    it("zerosOfAnotherSource_areMissing", async () => {
      for (const source of [{ kind: "shared" }, { kind: "each" }] as const) {
        const of = [{ dtype: DType.uint8, count: 600, source }];
        const run = rootsOnly(zeroRoot(600));
        const hash = await world().market.write.post([await request(of, run, { inputs: [], items: 1 })], requester());
        expect(await missingOf(await postedJob(world(), hash))).to.equal(1n);
      }
    });
  });

  it("inputsOfMorePartsThanHaveNumbers_areRefused", async () => {
    // 2^21 parts of an item: 2^37 of all, of which eight inputs would have overflowed the count of missing parts.
    const max = { dtype: DType.limb, count: 2 ** 32 - 1, source: { kind: "each" } } as const;
    const one = { dtype: DType.uint8, count: 1 };
    const refusal = async (of: Program["inputs"], items: number): Promise<string> => {
      const terms = { length: { items, firstItem: 0 }, roots: of.map(() => ROOT) } as unknown as RunInputs;
      const facts = factsWith(of);
      // Its work is what the publisher says.
      const header: Hex = `0x${facts.header.slice(2, 22)}${"00".repeat(8)}${facts.header.slice(38)}`;
      const program = { ...facts, header };
      return refusalOf(world().market.write.post([await request(of, terms, { inputs: [], program })], requester()));
    };
    expect(await refusal([...Array.from({ length: 8 }, () => max), one], 65_536)).to.match(
      /TooManyParts\(0, 137438953472\)/,
    );
    expect(await refusal([one, max], 2_049)).to.match(/TooManyParts\(1, 4297064448\)/);
    expect(await refusal([one, max, max], 2_048)).to.equal("accepted");
  });

  it("smallTensorsOfEachItem_takeAPartEach_pastAWordOfMarks", async () => {
    const items = 300;
    const small: Program["inputs"] = [{ dtype: DType.uint8, count: 3, source: { kind: "each" } }];
    const run = new RunInputs(small, { items, firstItem: 0 }, [bytes(3 * items, 7)]);
    const hash = await world().market.write.post([await request(small, run, { inputs: [] })], requester());
    const job = await postedJob(world(), hash);
    expect(await missingOf(job)).to.equal(300n);
    const publish = (item: number): Promise<Hex> => {
      const { root } = tensorTree(run.tensors(0)[item]!);
      const data = toHex(run.tensors(0)[item]!);
      const p = { input: 0, part: item, data, siblings: [], inputRoot: root, inputSiblings: run.path(0, item) };
      return world().market.write.publishInput([job, factsWith(small), p], requester());
    };
    for (const item of [0, 255, 256, 299]) await publish(item);
    for (const item of [0, 255, 256, 299]) expect(await refusalOf(publish(item))).to.match(/PartAlreadyPublished/);
    expect(await missingOf(job)).to.equal(296n);
    expect(await refusalOf(publish(1))).to.equal("accepted");
  });
});
