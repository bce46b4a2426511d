import { expect } from "chai";
import fc from "fast-check";
import { MerkleTree } from "merkletreejs";
import { copyChanges } from "../../../src/program/merkle/changes.ts";
import { chunksOf, levelBytes, Levels, unitsOf } from "../../../src/program/merkle/levels.ts";
import { MerkleList } from "../../../src/program/merkle/list.ts";
import { chunkOf } from "../../../src/program/merkle/tensor.ts";
import { sha256 } from "../../../src/program/merkle/hash.ts";
import { depthOf } from "../../../src/program/merkle/sizes.ts";
import { Prng } from "../../../testkit/random/prng.ts";

const CHUNK = 512;

/** The root by a library, over chunks that are hashed one by one. */
function rootByLibrary(tensor: Uint8Array): string {
  const width = chunksOf(tensor.length);
  const leaves: Uint8Array[] = Array.from({ length: width }, (_, k) => sha256(chunkOf(tensor, k)));
  while (leaves.length < 2 ** depthOf(width)) leaves.push(Buffer.alloc(32));
  return new MerkleTree(leaves, sha256, { sortPairs: false }).getHexRoot();
}

/** A tensor that is hashed in full once, and then by its changes. */
class Tracked {
  readonly tensor: Uint8Array;
  readonly #copy: Uint8Array;
  readonly #levels: Levels;

  constructor(bytes: number, prng: Prng) {
    this.tensor = Uint8Array.from({ length: bytes }, () => prng.below(256));
    this.#copy = Uint8Array.from(this.tensor);
    const width = chunksOf(bytes);
    this.#levels = new Levels(width, new Uint8Array(levelBytes(width)));
    for (let unit = 0; unit < unitsOf(bytes); unit++) this.#levels.hashUnit(this.#copy, unit);
    this.#levels.hashTop();
  }

  /** @returns the chunks that were hashed, and the root */
  follow(): { changed: number[]; root: string } {
    const changed = copyChanges(this.tensor, this.#copy, Infinity)!;
    expect(Buffer.compare(this.#copy, this.tensor)).to.equal(0);
    this.#levels.rehash(this.#copy, changed);
    return { changed, root: MerkleList.fromLevels(this.#levels).root };
  }
}

/** A change, and the chunks that it changes of so many bytes. */
const CHANGES: Record<string, (tensor: Uint8Array, prng: Prng) => number[]> = {
  nothing: () => [],
  oneByte: (tensor, prng) => {
    const at = prng.below(tensor.length);
    tensor[at]! ^= 1 + prng.below(255);
    return [Math.floor(at / CHUNK)];
  },
  firstChunk: (tensor) => {
    tensor[0]! ^= 1;
    return [0];
  },
  lastByte: (tensor) => {
    tensor[tensor.length - 1]! ^= 0x80;
    return [chunksOf(tensor.length) - 1];
  },
  all: (tensor) => {
    for (let k = 0; k < tensor.length; k++) tensor[k]! ^= 0x55;
    return Array.from({ length: chunksOf(tensor.length) }, (_, k) => k);
  },
  sameBytesAgain: (tensor) => {
    tensor.set(Uint8Array.from(tensor));
    return [];
  },
};

describe("hashing of what changed", () => {
  it("anyChanges_giveTheRootByALibrary_andHashTheChangedChunksOnly", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 70 * CHUNK }),
        fc.array(fc.constantFrom(...Object.keys(CHANGES)), { minLength: 1, maxLength: 5 }),
        fc.integer(),
        (bytes, changes, seed) => {
          const prng = new Prng(seed >>> 0);
          const tracked = new Tracked(bytes, prng);
          for (const change of changes) {
            const expected = CHANGES[change]!(tracked.tensor, prng);
            const { changed, root } = tracked.follow();
            expect(changed).to.deep.equal(expected);
            expect(root).to.equal(rootByLibrary(tracked.tensor));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("severalChangesAtOnce_inATensorOfManyUnits_giveTheRootByALibrary", () => {
    const prng = new Prng(5);
    const tracked = new Tracked(300 * CHUNK + 77, prng);
    for (let round = 0; round < 10; round++) {
      const chunks = new Set(Array.from({ length: 1 + prng.below(40) }, () => prng.below(301)));
      for (const chunk of chunks) tracked.tensor[chunk * CHUNK + prng.below(77)]! ^= 1;
      const { changed, root } = tracked.follow();
      expect(changed).to.deep.equal([...chunks].sort((a, b) => a - b));
      expect(root).to.equal(rootByLibrary(tracked.tensor));
    }
  });

  it("moreChangesThanAsked_areCopiedButNotListed", () => {
    const tensor = Uint8Array.from({ length: 40 * CHUNK + 3 }, (_, k) => k % 251);
    for (const [max, expected] of [
      [2, undefined],
      [3, [1, 35, 40]],
    ] as const) {
      const copy = Uint8Array.from(tensor);
      for (const at of [CHUNK, 35 * CHUNK + 9, 40 * CHUNK + 2]) copy[at]! ^= 1;
      expect(copyChanges(tensor, copy, max)).to.deep.equal(expected);
      expect(Buffer.compare(copy, tensor)).to.equal(0);
    }
  });

  it("payloadOfANaN_andSignOfAZero_areChanges", () => {
    const tracked = new Tracked(4 * CHUNK, new Prng(1));
    const words = new Uint32Array(tracked.tensor.buffer);
    words[200] = 0x7fc00000;
    words[400] = 0;
    tracked.follow();
    words[200] = 0x7fc00001;
    words[400] = 0x80000000;
    const { changed, root } = tracked.follow();
    expect(changed).to.deep.equal([1, 3]);
    expect(root).to.equal(rootByLibrary(tracked.tensor));
  });
});
