import { fromHash, sha256, sha256Into, toHash, zeroHash, type Hash } from "./hash.ts";

/** Levels between the root and the leaves of a list of `width` leaves. */
export function depthOf(width: number): number {
  let depth = 0;
  while (2 ** depth < width) depth++;
  return depth;
}

/** The tree over a list of 32-byte leaves (docs/program.md, "Merkle lists"). Heights count from the leaves. */
export class MerkleList {
  readonly width: number;
  readonly depth: number;
  /** levels[h] holds the nodes of height h that cover at least one leaf, concatenated. */
  readonly #levels: Buffer[];

  /** @param leaves The leaves, concatenated; at least one. */
  constructor(leaves: Uint8Array) {
    if (leaves.length === 0 || leaves.length % 32 !== 0) {
      throw new RangeError(`a list needs at least one 32-byte leaf, got ${leaves.length} bytes`);
    }
    this.width = leaves.length / 32;
    this.depth = depthOf(this.width);
    this.#levels = [Buffer.from(leaves.buffer, leaves.byteOffset, leaves.length)];
    for (let height = 0; height < this.depth; height++) this.#levels.push(parents(this.#levels[height]!, height));
  }

  static fromHashes(leaves: readonly Hash[]): MerkleList {
    return new MerkleList(Buffer.concat(leaves.map(fromHash)));
  }

  get root(): Hash {
    return this.node(this.depth, 0);
  }

  /** Node `index` of a height; a position past the width is `Z_height`. */
  node(height: number, index: number): Hash {
    return toHash(this.#node(height, index));
  }

  /** The siblings that open node (`height`, `index`) under its ancestor `toHeight` (default: the root), lowest first. */
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

  #node(height: number, index: number): Buffer {
    if (height > this.depth || index < 0 || index >= 2 ** (this.depth - height)) {
      throw new RangeError(`no node ${index} at height ${height} in a list of ${this.width} leaves`);
    }
    const level = this.#levels[height]!;
    return index * 32 < level.length ? level.subarray(index * 32, index * 32 + 32) : zeroHash(height);
  }
}

function parents(level: Buffer, height: number): Buffer {
  const count = level.length / 32;
  const out = Buffer.alloc(Math.ceil(count / 2) * 32);
  const pairs = Math.floor(count / 2);
  // Neighbours lie side by side: what is hashed is one piece of the level.
  for (let i = 0; i < pairs; i++) sha256Into(out, i * 32, level.subarray(i * 64, i * 64 + 64));
  if (count > 2 * pairs) sha256(level.subarray(pairs * 64), zeroHash(height)).copy(out, pairs * 32);
  return out;
}
