import { concatenated } from "./concatenated.ts";
import { zeroHash } from "./hash.ts";
import { hashChunks, hashPairs } from "./hashKernel.ts";
import { CHUNK_BYTES, depthOf, HASH_BYTES, nodesAt } from "./sizes.ts";

/** Height of the subtrees that a thread hashes at a time, in about 20 us. */
const UNIT_HEIGHT = 5;
const UNIT_CHUNKS = 2 ** UNIT_HEIGHT;
export const UNIT_BYTES = UNIT_CHUNKS * CHUNK_BYTES;

/** All nodes of the tree over a tensor's chunks, level after level from the leaves on. */
export class Levels {
  readonly width: number;
  readonly depth: number;
  readonly #levels: readonly Uint8Array[];

  /** @param nodes Room for {@link levelBytes}; may be shared with other threads, which hash other units. */
  constructor(width: number, nodes: Uint8Array) {
    this.width = width;
    this.depth = depthOf(width);
    let at = 0;
    this.#levels = Array.from({ length: this.depth + 1 }, (_, height) => {
      const bytes = nodesAt(width, height) * HASH_BYTES;
      at += bytes;
      return nodes.subarray(at - bytes, at);
    });
  }

  /** The nodes of a height. */
  at(height: number): Uint8Array {
    return this.#levels[height]!;
  }

  /** Hashes one unit of a tensor: some chunks and the nodes over only these. */
  hashUnit(tensor: Uint8Array, unit: number): void {
    const first = unit * UNIT_CHUNKS;
    hashChunks(tensor.subarray(unit * UNIT_BYTES, (unit + 1) * UNIT_BYTES), this.#part(0, first));
    for (let height = 0; height < Math.min(UNIT_HEIGHT, this.depth); height++) this.#hashAbove(height, first);
  }

  /** Hashes the nodes above all units. */
  hashTop(): void {
    for (let height = UNIT_HEIGHT; height < this.depth; height++) this.#hashAbove(height);
  }

  /**
   * Hashes a tensor's changed chunks, then all nodes over these chunks. The other chunks and nodes must have been
   * hashed before.
   * @param chunks The numbers of the changed chunks, increasing.
   */
  rehash(tensor: Uint8Array, chunks: readonly number[]): void {
    this.#replace(0, tensor, CHUNK_BYTES, chunks, hashChunks);
    let changed = chunks;
    for (let height = 0; height < this.depth; height++) {
      changed = [...new Set(changed.map((index) => index >>> 1))];
      const hash = (pairs: Uint8Array, out: Uint8Array): void => hashPairs(pairs, zeroHash(height), out);
      this.#replace(height + 1, this.at(height), 2 * HASH_BYTES, changed, hash);
    }
  }

  /** Puts new nodes at some positions on a height. Each node hashes the message at the same position. */
  #replace(
    height: number,
    messages: Uint8Array,
    bytes: number,
    positions: readonly number[],
    hash: (gathered: Uint8Array, out: Uint8Array) => void,
  ): void {
    const nodes = this.at(height);
    const hashes = new Uint8Array(positions.length * HASH_BYTES);
    hash(concatenated(positions.map((index) => messages.subarray(index * bytes, (index + 1) * bytes))), hashes);
    positions.forEach((index, k) =>
      nodes.set(hashes.subarray(k * HASH_BYTES, (k + 1) * HASH_BYTES), index * HASH_BYTES),
    );
  }

  /** Hashes a level's nodes, or only the nodes over the chunks of the unit that begins with chunk `first`. */
  #hashAbove(height: number, first?: number): void {
    const [below, above] =
      first === undefined
        ? [this.at(height), this.at(height + 1)]
        : [this.#part(height, first), this.#part(height + 1, first)];
    hashPairs(below, zeroHash(height), above);
  }

  #part(height: number, first: number): Uint8Array {
    const at = (first / 2 ** height) * HASH_BYTES;
    return this.at(height).subarray(at, at + (UNIT_CHUNKS / 2 ** height) * HASH_BYTES);
  }
}

/** Returns the bytes of all nodes in a tree with the given number of leaves. */
export function levelBytes(width: number): number {
  let bytes = 0;
  for (let height = 0; height <= depthOf(width); height++) bytes += nodesAt(width, height) * HASH_BYTES;
  return bytes;
}

/** The number of chunks of a tensor. */
export const chunksOf = (bytes: number): number => Math.ceil(bytes / CHUNK_BYTES);

/** How many units a tensor's tree is hashed in. */
export const unitsOf = (bytes: number): number => Math.ceil(bytes / UNIT_BYTES);
