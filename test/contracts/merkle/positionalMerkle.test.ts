import { expect } from "chai";
import fc from "fast-check";
import { network } from "hardhat";
import { keccak256, toBytes, type Hex } from "viem";
import { depthOf } from "../../../src/program/merkle/sizes.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { toHash, zeroHash } from "../../../src/program/merkle/hash.ts";
import { encodeStepBody } from "../../../src/program/encode.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { Op } from "../../../src/program/operations.ts";
import { Reduce, type Step } from "../../../src/program/types.ts";

const leaf = (k: number): Hex => keccak256(toBytes(`leaf ${k}`));
const leavesOf = (width: number): Hex[] => Array.from({ length: width }, (_, k) => leaf(k));

describe("PositionalMerkle", () => {
  const setup = async () => {
    const { viem } = await network.create();
    return viem.deployContract("MerkleHarness");
  };
  let harness: Awaited<ReturnType<typeof setup>>;
  before(async () => void (harness = await setup()));

  async function reverts(call: Promise<unknown>, error: string): Promise<void> {
    const failure = await call.then(
      () => undefined,
      (e: Error) => e.message,
    );
    expect(failure, `${error} expected`).to.include(error);
  }

  it("depth_everyWidth_isTypeScripts", async () => {
    for (const width of [1, 2, 3, 4, 5, 8, 9, 255, 256, 257, 2 ** 25 + 1])
      expect(await harness.read.depth([BigInt(width)])).to.equal(BigInt(depthOf(width)));
    await reverts(harness.read.depth([0n]), "EmptyList");
  });

  it("zeroHash_everyHeight_isTypeScripts", async () => {
    for (const height of [0, 1, 2, 7, 25])
      expect(await harness.read.zeroHash([BigInt(height)])).to.equal(toHash(zeroHash(height)));
  });

  it("leavesRoot_paddedList_isTheListsRoot", async () => {
    for (const width of [1, 2, 3, 5, 7, 8, 9, 17])
      expect(await harness.read.leavesRoot([leavesOf(width)])).to.equal(MerkleList.fromHashes(leavesOf(width)).root);
  });

  it("subtreeRoot_childrenOfAnInnerNode_isTheNode", async () => {
    const list = MerkleList.fromHashes(leavesOf(21));
    // Node 1 of height 4 covers leaves 16..31, of which 16..20 exist.
    expect(await harness.read.subtreeRoot([leavesOf(21).slice(16), 4n])).to.equal(list.node(4, 1));
    await reverts(harness.read.subtreeRoot([leavesOf(5), 2n]), "PastWidth");
  });

  it("leafUnder_everyLeaf_onlyAtItsOwnIndex", async () => {
    const width = 11;
    const list = MerkleList.fromHashes(leavesOf(width));
    const under = (k: number, index: number, path = list.path(k)) =>
      harness.read.leafUnder([list.root, BigInt(width), leaf(k), BigInt(index), path]);
    for (let k = 0; k < width; k++) {
      expect(await under(k, k)).to.equal(true);
      expect(await under(k, (k + 1) % width)).to.equal(false);
    }
    await reverts(under(3, 3 + 16), "PastWidth");
    await reverts(under(3, 3, list.path(3).slice(1)), "SiblingCount");
    await reverts(under(3, 3, [...list.path(3), leaf(0)]), "SiblingCount");
    await reverts(harness.read.rootFromPath([leaf(3), 3n + 16n, list.path(3)]), "IndexBitsLeft");
  });

  it("nodeUnder_anyNodeUnderAnyAncestor_holds", async () => {
    const list = MerkleList.fromHashes(leavesOf(21));
    for (const [height, index, ancestor] of [
      [0, 20, 5],
      [1, 10, 5],
      [2, 7, 3],
      [4, 1, 4],
    ] as const) {
      const levels = ancestor - height;
      const args = (path: Hex[], within: number) =>
        [list.node(ancestor, index >> levels), BigInt(levels), list.node(height, index), BigInt(within), path] as const;
      const path = list.path(index, height, ancestor);
      const within = index & (2 ** levels - 1);
      expect(await harness.read.nodeUnder(args(path, within))).to.equal(true);
      await reverts(harness.read.nodeUnder(args([...path, leaf(0)], within)), "SiblingCount");
    }
  });

  it("multiproofRoot_anySubset_isTheRoot", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.infiniteStream(fc.boolean()), async (width, coins) => {
        const list = MerkleList.fromHashes(leavesOf(width));
        const chosen = Array.from({ length: width }, (_, k) => k).filter(() => coins.next().value);
        const indices = chosen.length === 0 ? [width - 1] : chosen;
        const root = await harness.read.multiproofRoot([
          BigInt(width),
          indices.map(BigInt),
          indices.map(leaf),
          list.multiproof(indices),
        ]);
        expect(root).to.equal(list.root);
      }),
      { numRuns: 60, seed: 7 },
    );
  });

  it("multiproofRoot_malformed_reverts", async () => {
    const width = 13;
    const list = MerkleList.fromHashes(leavesOf(width));
    const root = (indices: number[], leaves: Hex[], siblings: Hex[]) =>
      harness.read.multiproofRoot([BigInt(width), indices.map(BigInt), leaves, siblings]);
    const good = list.multiproof([2, 5]);
    expect(await root([2, 5], [leaf(2), leaf(5)], good)).to.equal(list.root);
    await reverts(root([5, 2], [leaf(5), leaf(2)], good), "IndicesNotIncreasing");
    await reverts(root([2, 2], [leaf(2), leaf(2)], good), "IndicesNotIncreasing");
    await reverts(root([2, 13], [leaf(2), leaf(5)], good), "PastWidth");
    await reverts(root([2, 5 + 16], [leaf(2), leaf(5)], good), "PastWidth");
    await reverts(root([2, 5], [leaf(2), leaf(5)], good.slice(1)), "SiblingCount");
    await reverts(root([2, 5], [leaf(2), leaf(5)], [...good, leaf(0)]), "SiblingCount");
    await reverts(root([2, 5], [leaf(2)], good), "LeafCount");
    await reverts(root([], [], good), "EmptyList");
    expect(await root([2, 4], [leaf(2), leaf(5)], good)).to.not.equal(list.root);
  });

  it("refs_everyKind_asEncoded", async () => {
    const root = leaf(9);
    const step: Step = {
      dtype: DType.float32,
      count: 1,
      inputs: [
        { kind: "input", index: 70_000, dtype: DType.uint8, count: 12 },
        { kind: "constant", root, dtype: DType.float32, count: 2 ** 32 - 1 },
        { kind: "step", index: 3, dtype: DType.int64, count: 5 },
      ],
      outDigits: [1],
      redDigits: [],
      reduce: Reduce.none,
      constants: [],
      termReads: [],
      epilogueReads: [{ input: 1, fill: 0n, axes: [] }],
      term: { code: [], outA: 0, outB: 0 },
      epilogue: { code: [{ op: Op.neg, dtype: DType.float32, a: 0, b: 0, c: 0 }], out: 1 },
    };
    const body = encodeStepBody(step);
    expect(await harness.read.refs([toHash(body)])).to.deep.equal([
      { kind: 0, dtype: DType.uint8, count: 12n, index: 70_000, root: toHash(new Uint8Array(32)) },
      { kind: 1, dtype: DType.float32, count: 2n ** 32n - 1n, index: 0, root },
      { kind: 2, dtype: DType.int64, count: 5n, index: 3, root: toHash(new Uint8Array(32)) },
    ]);
    const mutate = (at: number, value: number): Hex => toHash(Uint8Array.from(body, (b, k) => (k === at ? value : b)));
    await reverts(harness.read.refs([mutate(0, 17)]), "TooMany");
    await reverts(harness.read.refs([mutate(1, 3)]), "UnknownKind");
    await reverts(harness.read.refs([mutate(2, 8)]), "UnknownType");
    await reverts(harness.read.refs([mutate(10, 0)]), "ElementCount");
    await reverts(harness.read.refs([mutate(6, 1)]), "ElementCount");
    await reverts(harness.read.refs([toHash(body.subarray(0, 70))]), "BodyLength");
  });
});
