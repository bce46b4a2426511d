import { expect } from "chai";
import fc from "fast-check";
import { MerkleTree } from "merkletreejs";
import { fromHash, sha256, toHash, zeroHash, type Hash } from "../../../src/program/merkle/hash.ts";
import { depthOf } from "../../../src/program/merkle/sizes.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { chunkOf, tensorRoot } from "../../../src/program/merkle/tensor.ts";

const leaf = (n: number): Uint8Array => sha256(Buffer.from(`leaf ${n}`));
const leaves = (width: number): Uint8Array[] => Array.from({ length: width }, (_, k) => leaf(k));

/** The same tree by a library: it must be fed the padded leaves, its own odd-node rule makes another tree. */
function byLibrary(list: Uint8Array[]): MerkleTree {
  const padded = [...list];
  while (padded.length < 2 ** depthOf(list.length)) padded.push(Buffer.alloc(32));
  return new MerkleTree(padded, sha256, { sortPairs: false });
}

function foldPath(start: Hash, index: number, siblings: readonly Hash[]): Hash {
  let node = fromHash(start);
  for (const sibling of siblings) {
    node = index % 2 === 0 ? sha256(node, fromHash(sibling)) : sha256(fromHash(sibling), node);
    index = Math.floor(index / 2);
  }
  return toHash(node);
}

describe("MerkleList", () => {
  it("root_anyWidth_equalsMerkletreejsOverPaddedLeaves", () => {
    for (let width = 1; width <= 70; width++) {
      const list = leaves(width);
      expect(new MerkleList(Buffer.concat(list)).root, `width ${width}`).to.equal(byLibrary(list).getHexRoot());
    }
  });

  it("path_anyLeaf_equalsMerkletreejsProof", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(), (width, seed) => {
        const index = seed % width;
        const list = leaves(width);
        const proof = byLibrary(list)
          .getProof(Buffer.from(list[index]!), index)
          .map(({ data }) => toHash(data));
        expect(new MerkleList(Buffer.concat(list)).path(index)).to.deep.equal(proof);
      }),
    );
  });

  it("path_betweenHeights_foldsToTheAncestor", () => {
    const tree = new MerkleList(Buffer.concat(leaves(37)));
    for (let height = 0; height < tree.depth; height++) {
      for (let top = height; top <= tree.depth; top++) {
        const index = 36 >> height;
        const folded = foldPath(tree.node(height, index), index, tree.path(index, height, top));
        expect(folded).to.equal(tree.node(top, 36 >> top));
      }
    }
  });

  it("node_pastTheWidth_isTheZeroSubtree", () => {
    const tree = new MerkleList(Buffer.concat(leaves(5)));
    expect(tree.node(0, 7)).to.equal(toHash(zeroHash(0)));
    expect(tree.node(1, 3)).to.equal(toHash(zeroHash(1)));
    expect(() => tree.node(0, 8)).to.throw(RangeError);
  });

  it("multiproof_anySet_usesEachSiblingOnce", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.uint8Array({ minLength: 1, maxLength: 12 }), (width, picks) => {
        const indices = [...new Set([...picks].map((p) => p % width))].sort((a, b) => a - b);
        const tree = new MerkleList(Buffer.concat(leaves(width)));
        expect(rootOf(indices, tree, tree.multiproof(indices))).to.equal(tree.root);
      }),
    );
  });

  it("constructor_noLeaf_throws", () => {
    expect(() => new MerkleList(new Uint8Array())).to.throw(RangeError, "at least one");
  });
});

/** The verifier's fold, written anew: consumes siblings level by level. */
function rootOf(indices: number[], tree: MerkleList, siblings: readonly Hash[]): Hash {
  let known = new Map<number, Uint8Array>(indices.map((i) => [i, fromHash(tree.node(0, i))]));
  const rest = [...siblings];
  for (let height = 0; height < tree.depth; height++) {
    const next = new Map<number, Uint8Array>();
    for (const [i, node] of known) {
      const parent = Math.floor(i / 2);
      if (next.has(parent)) continue;
      const other = known.get(i ^ 1) ?? fromHash(rest.shift()!);
      next.set(parent, i % 2 === 0 ? sha256(node, other) : sha256(other, node));
    }
    known = next;
  }
  expect(rest).to.have.length(0);
  return toHash(known.get(0)!);
}

describe("tensor tree", () => {
  it("tensorRoot_singleChunk_isTheHashOfThePaddedChunk", () => {
    const tensor = Uint8Array.of(1, 2, 3);
    const padded = Buffer.alloc(512);
    padded.set(tensor);
    expect(tensorRoot(tensor)).to.equal(toHash(sha256(padded)));
  });

  it("tensorRoot_severalChunks_equalsMerkletreejs", () => {
    // Around the sizes of units (16 KB) and batches (32 KB), in which trees are hashed.
    for (const bytes of [512, 513, 1500, 5000, 2 ** 14, 2 ** 14 + 1, 3 * 2 ** 14 - 512, 2 ** 16, 150_001, 700_000]) {
      const tensor = Uint8Array.from({ length: bytes }, (_, k) => k * 7);
      const chunks = Array.from({ length: Math.ceil(bytes / 512) }, (_, k) => sha256(chunkOf(tensor, k)));
      expect(tensorRoot(tensor)).to.equal(byLibrary(chunks).getHexRoot());
    }
  });
});
