import { concatenated } from "./concatenated.ts";
import { fromHash, toHash, zeroHash, type Hash } from "./hash.ts";
import { hashPairs } from "./hashKernel.ts";
import type { Levels } from "./levels.ts";
import { depthOf, HASH_BYTES, nodesAt } from "./sizes.ts";

/** Roughly what an array takes besides its bytes. */
const OBJECT_BYTES = 100;

/** The tree over a list of 32-byte leaves (docs/program.md, "Merkle lists"). Heights count from the leaves. */
export class MerkleList {
  readonly width: number;
  readonly depth: number;
  /** levels[h] holds all nodes with height h above at least one leaf, concatenated. */
  readonly #levels: Uint8Array[];

  /**
   * @param leaves The leaves, concatenated; at least one.
   * @param levels The nodes of all heights, where they are known.
   */
  constructor(leaves: Uint8Array, levels?: Levels) {
    if (leaves.length === 0 || leaves.length % 32 !== 0) {
      throw new RangeError(`a list needs at least one 32-byte leaf, got ${leaves.length} bytes`);
    }
    this.width = leaves.length / 32;
    this.depth = depthOf(this.width);
    this.#levels = [leaves];
    for (let height = 0; height < this.depth; height++) {
      const known = levels?.at(height + 1);
      this.#levels.push(known ?? parents(this.#levels[height]!, height));
    }
  }

  /** A tree whose nodes have been hashed. */
  static fromLevels(levels: Levels): MerkleList {
    return new MerkleList(levels.at(0), levels);
  }

  static fromHashes(leaves: readonly Hash[]): MerkleList {
    return new MerkleList(concatenated(leaves.map(fromHash)));
  }

  /** Roughly the bytes of memory that it takes. */
  get bytes(): number {
    return this.#levels.reduce((sum, { length }) => sum + length + OBJECT_BYTES, 0);
  }

  /** The leaves, concatenated. */
  get leaves(): Uint8Array {
    return this.#levels[0]!;
  }

  get root(): Hash {
    return this.node(this.depth, 0);
  }

  /** Whether all nodes are equal. */
  equals(other: MerkleList): boolean {
    return (
      this.width === other.width &&
      this.#levels.every((level, height) => level.every((byte, k) => byte === other.#levels[height]![k]))
    );
  }

  /** Node `index` of a height; a position past the width is `Z_height`. */
  node(height: number, index: number): Hash {
    return toHash(this.#node(height, index));
  }

  /**
   * Returns the siblings that open node (`height`, `index`) under its ancestor at `toHeight` (default: the root),
   * lowest first.
   */
  path(index: number, height = 0, toHeight = this.depth): Hash[] {
    const siblings: Hash[] = [];
    for (let h = height; h < toHeight; h++) {
      siblings.push(this.node(h, index ^ 1));
      index >>>= 1;
    }
    return siblings;
  }

  /** The siblings that open several leaves at once. @param indices Strictly increasing, below the width. */
  multiproof(indices: readonly number[]): Hash[] {
    const siblings: Hash[] = [];
    let known = [...indices];
    for (let height = 0; height < this.depth; height++) {
      const next: number[] = [];
      for (let k = 0; k < known.length; k++) {
        const index = known[k]!;
        if (known[k + 1] === (index ^ 1)) k++;
        else siblings.push(this.node(height, index ^ 1));
        next.push(index >>> 1);
      }
      known = next;
    }
    return siblings;
  }

  #node(height: number, index: number): Uint8Array {
    if (height > this.depth || index < 0 || index >= 2 ** (this.depth - height)) {
      throw new RangeError(`no node ${index} at height ${height} in a list of ${this.width} leaves`);
    }
    const level = this.#levels[height]!;
    return index * 32 < level.length ? level.subarray(index * 32, index * 32 + 32) : zeroHash(height);
  }
}

function parents(level: Uint8Array, height: number): Uint8Array {
  const out = new Uint8Array(nodesAt(level.length / HASH_BYTES, 1) * HASH_BYTES);
  hashPairs(level, zeroHash(height), out);
  return out;
}
