import { expect } from "chai";
import { zeroHash, type Hex } from "viem";
import type { JobRequest } from "../../../src/chain/structs.ts";
import { toHex } from "../../../src/program/merkle/hash.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { MAX_ITEMS, runWork } from "../../../src/program/run.ts";
import { RunInputs } from "../../../src/program/trace/runInputs.ts";
import { runInputBytes, runProgram } from "../../../testkit/programs/runProgram.ts";
import { refusalOf } from "../../../testkit/protocol/refusalOf.ts";
import { useWorld } from "../../../testkit/protocol/useWorld.ts";
import { factsOf, jobId, postedJob } from "../../../testkit/protocol/world.ts";
import { ETHER } from "../../../testkit/protocol/deployWorld.ts";

const ROOT: Hex = `0x${"ab".repeat(32)}`;
const program = runProgram();
const { inputs, checkpoints } = program.model.program;

/** Where fields of the header lie, bytes: its work, and those of an input and of an output. */
const WORK = 10;
const inputAt = (k: number): number => 30 + 14 * k;
const outputAt = (k: number): number => inputAt(inputs.length) + 14 * k;
const [STATE, X, SEED, INDEX] = [0, 1, 2, 3];

/** Bytes in a header, from a place on. */
type Change = readonly [at: number, bytes: readonly number[]];

/** The program with other bytes in its header. */
function withHeader(...changes: readonly Change[]): JobRequest["program"] {
  const header = Uint8Array.from(program.commitment.header);
  for (const [at, bytes] of changes) header.set(bytes, at);
  return { ...factsOf(program.commitment), header: toHex(header) };
}

const big = (value: bigint, size: number): number[] =>
  Array.from({ length: size }, (_, k) => Number((value >> BigInt(8 * (size - 1 - k))) & 0xffn));

describe("JobMarket: post of a run", () => {
  const world = useWorld();
  const { baseWindow, maxWork, rate } = { baseWindow: 1_800, maxWork: 10n ** 12n, rate: 10n ** 8n };

  /** A request by roots alone, whatever the number of items. */
  const request = async (changes: Partial<JobRequest> = {}): Promise<JobRequest> => ({
    program: factsOf(program.commitment),
    fee: ETHER,
    claimSeconds: 600,
    deadline: BigInt((await world().networkHelpers.time.latest()) + 86_400),
    callbackGas: 0,
    maxOutputBytes: 4_096,
    salt: zeroHash,
    inputRoots: [ROOT, ROOT, ROOT, zeroHash],
    inputs: [],
    rootOnly: true,
    terms: [],
    answer: false,
    window: 80_000,
    items: 5,
    firstItem: 0,
    ...changes,
  });
  const post = async (changes: Partial<JobRequest> = {}): Promise<Hex> =>
    world().market.write.post([await request(changes)], { account: world().requester.account });
  const refusal = (changes: Partial<JobRequest>): Promise<string> => refusalOf(post(changes));

  it("items_fromOneToTheMost_areTaken_andNoOthers", async () => {
    for (const items of [1, 2, MAX_ITEMS]) {
      const job = await postedJob(world(), await post({ items }));
      expect(job.items).to.equal(items);
      expect(job.checkpoints).to.equal(checkpoints.length);
    }
    expect(await refusal({ items: 0 })).to.match(/ItemsOutOfRange\(0, 65536\)/);
    expect(await refusal({ items: MAX_ITEMS + 1 })).to.match(/ItemsOutOfRange\(65537, 65536\)/);
    expect(await refusal({ items: 2 ** 32 - 1 })).to.match(/ItemsOutOfRange/);
  });

  it("work_isThatOfAllItems_andOfBeginningEach", async () => {
    const work = new DataView(program.commitment.header.buffer, program.commitment.header.byteOffset).getBigUint64(
      WORK,
    );
    for (const items of [1, 3, 1_000]) {
      const job = await postedJob(world(), await post({ items }));
      expect(job.work).to.equal(BigInt(items) * (work + 20_000n));
      expect(job.work).to.equal(runWork(items, work));
    }
  });

  it("workOfARun_beyondTheMost_isRefused_atEverySize", async () => {
    const max = maxWork / 16n - 20_000n;
    const min = { program: withHeader([WORK, big(max, 8)]) };
    const job = await postedJob(world(), await post({ ...min, items: 16 }));
    expect(job.work).to.equal(maxWork);
    expect(await refusal({ ...min, items: 17 })).to.match(/TooMuchWork\(1062500000000, 1000000000000\)/);
    expect(await refusal({ program: withHeader([WORK, big(max + 1n, 8)]), items: 16 })).to.match(/TooMuchWork/);
    // Products that 64 bits do not hold, among them one that is small in 64 bits.
    for (const work of [2n ** 64n - 1n, 2n ** 48n - 20_000n, 2n ** 64n - 20_000n]) {
      const large = { program: withHeader([WORK, big(work, 8)]), items: MAX_ITEMS };
      expect(await refusal(large)).to.match(new RegExp(`TooMuchWork\\(${runWork(MAX_ITEMS, work)},`));
    }
  });

  it("window_followsFromTheWorkOfAllItems", async () => {
    // 40 seconds and a half an item.
    const item = (rate * 81n) / 2n;
    const facts = withHeader([WORK, big(item - 20_000n, 8)]);
    for (const [items, seconds] of [
      [1, 40],
      [2, 81],
      [7, 283],
      [100, 4_050],
    ] as const) {
      expect(await refusal({ program: facts, items, window: baseWindow + seconds - 1 })).to.match(
        new RegExp(`WindowOutOfRange\\(${baseWindow + seconds - 1}, ${baseWindow + seconds}, 86400\\)`),
      );
      await post({ program: facts, items, window: baseWindow + seconds });
    }
  });

  it("itemsAndFirstItem_arePartsOfTheJob", async () => {
    const ids = new Set<Hex>();
    const { deadline } = await request();
    for (const changes of [{}, { items: 4 }, { firstItem: 1 }, { firstItem: 2 ** 32 - 1 }]) {
      const job = await postedJob(world(), await post({ deadline, ...changes }));
      expect(job).to.include({ items: 5, firstItem: 0, ...changes });
      ids.add(jobId(world(), job));
    }
    expect(ids.size).to.equal(4);
    expect(await refusal({ deadline, firstItem: 1 })).to.match(/JobExists/);
  });

  it("rootOnly_takesRootsAlone_andNoneOfTheIndex", async () => {
    const roots = [ROOT, `0x${"cd".repeat(32)}`, ROOT, zeroHash] as const;
    const job = await postedJob(world(), await post({ inputRoots: roots }));
    expect(job.inputsRoot).to.equal(MerkleList.fromHashes(roots).root);
    expect(await refusal({ inputRoots: [ROOT, ROOT, ROOT, ROOT] })).to.match(/WrongInputRoot\(3,/);
    expect(await refusal({ inputRoots: roots.slice(0, 3) })).to.match(/WrongInputCount\(3, 4\)/);
    expect(await refusal({ inputs: ["0x", "0x", "0x", "0x"] })).to.match(/RootOnlyWithBytes/);
  });

  it("roots_areWhatTheClientsComputed", async () => {
    const run = new RunInputs(inputs, { items: 5, firstItem: 9 }, runInputBytes(5));
    const bytes = inputs.map((_, k) => toHex(Buffer.concat(run.tensors(k))));
    const job = await postedJob(
      world(),
      await post({ inputRoots: run.roots, inputs: bytes, rootOnly: false, firstItem: 9 }),
    );
    expect(job.inputsRoot).to.equal(run.list.root);
  });

  it("sources_unknownOrWithUnreadFields_areRefused", async () => {
    for (const [changes, why] of [
      [[inputAt(SEED) + 9, [4]], /UnknownInputSource\(2, 4\)/],
      [[inputAt(STATE) + 9, [255]], /UnknownInputSource\(0, 255\)/],
      // Carried from a checkpoint that the program does not have, or from one that is not read.
      [[inputAt(STATE) + 10, [0, 0, 0, 2]], /WrongCarriedCheckpoint\(0, 2\)/],
      [[inputAt(STATE) + 10, [255, 255, 255, 255]], /WrongCarriedCheckpoint\(0, 4294967295\)/],
      [[inputAt(X) + 10, [0, 0, 0, 1]], /WrongCarriedCheckpoint\(1, 1\)/],
      [[inputAt(SEED) + 10, [0, 0, 0, 1]], /WrongCarriedCheckpoint\(2, 1\)/],
      [[inputAt(INDEX) + 10, [1, 0, 0, 0]], /WrongCarriedCheckpoint\(3, 16777216\)/],
      // An index is one int64.
      [[inputAt(INDEX), [DType.uint64]], /IndexNotInt64\(3\)/],
      [[inputAt(INDEX) + 1, big(2n, 8)], /IndexNotInt64\(3\)/],
      [[inputAt(INDEX) + 1, big(0n, 8)], /IndexNotInt64\(3\)/],
      [[outputAt(0) + 13, [2]], /UnknownOutputScope\(0, 2\)/],
      [[outputAt(1) + 13, [255]], /UnknownOutputScope\(1, 255\)/],
      [[outputAt(1), [0, 0, 0, 2]], /OutputWithoutCheckpoint\(1, 2\)/],
    ] as const) {
      expect(await refusal({ program: withHeader(changes) })).to.match(why);
    }
    // Each of them, where it is as it should be.
    await post({ program: withHeader([inputAt(STATE) + 10, [0, 0, 0, 0]]) });
  });

  it("outputsOfEachItem_areNoDeliverables", async () => {
    const deliverables = async (...changes: readonly Change[]): Promise<bigint> =>
      (await postedJob(world(), await post({ program: withHeader(...changes) }))).deliverables;
    // Output 1 is one of each item.
    expect(await deliverables()).to.equal(1n);
    expect(await deliverables([outputAt(1) + 13, [0]])).to.equal(3n);
    expect(await deliverables([outputAt(0) + 13, [1]])).to.equal(0n);
    expect(await deliverables([outputAt(0) + 13, [1]], [outputAt(1) + 13, [0]])).to.equal(2n);
  });

  it("fee_comesBack_fromARunWhoseInputsAreNotAllThere", async () => {
    const before = (await world().vault.read.accountOf([world().requester.account.address]))[0];
    const job = await postedJob(world(), await post({ rootOnly: false, items: MAX_ITEMS }));
    const [, , , missing] = await world().market.read.jobOf([jobId(world(), job)]);
    expect(missing).to.equal(BigInt(MAX_ITEMS) + 2n);
    expect((await world().vault.read.accountOf([world().requester.account.address]))[0]).to.equal(before - ETHER);
    await world().market.write.cancel([job], { account: world().requester.account });
    expect((await world().vault.read.accountOf([world().requester.account.address]))[0]).to.equal(before);
  });
});
