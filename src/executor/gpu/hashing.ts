import { chunksOf, levelBytes } from "../../program/merkle/levels.ts";
import { depthOf, HASH_BYTES, nodesAt } from "../../program/merkle/sizes.ts";
import type { Kernel } from "./kernel.ts";
import { shaderOf } from "./wgsl/library.ts";
import { CHANGED_LEAVES, CHANGED_NODES, LEAVES, NODES } from "./wgsl/sha256.ts";

/** Operations for a SHA-256 compression. */
const COMPRESSION = 1_500;

/** A tensor's and a tree's byte addresses. */
type Hashed = { tensor: number; bytes: number; nodes: number; zeros: number };

/**
 * Byte addresses: the previous execution's tensor, the nodes' marks, and a word, nonzero if every chunk counts as
 * changed.
 */
type Followed = { before: number; marks: number; anew: number };

/** The bytes for a mark per node in a tensor's tree. */
export const markBytes = (bytes: number): number => (levelBytes(chunksOf(bytes)) / HASH_BYTES) * 4;

/**
 * Returns the kernels for a tensor's tree.
 * @param followed If given, only changes since the previous execution are hashed.
 */
export function hashKernels({ tensor, bytes, nodes, zeros }: Hashed, followed?: Followed): Kernel[] {
  const width = chunksOf(bytes);
  const [leaves, above] = followed === undefined ? [LEAVES, NODES] : [CHANGED_LEAVES, CHANGED_NODES];
  const kernel = (text: string, words: readonly number[], invocations: number, operations: number): Kernel => ({
    ...{ source: shaderOf(text), invocations, operations },
    parameters: Uint32Array.of(...words, ...new Array<number>(-words.length & 3).fill(0)),
  });
  const { before, marks, anew } = followed ?? { before: 0, marks: 0, anew: 0 };
  const changes = (...words: number[]): number[] => (followed === undefined ? [] : words);
  const first = [tensor / 4, Math.ceil(bytes / 4), width, nodes / 4, ...changes(before / 4, marks / 4, anew / 4)];
  const kernels = [kernel(leaves, first, width, 9 * COMPRESSION)];
  let [at, mark] = [nodes, marks / 4];
  for (let height = 0; height < depthOf(width); height++) {
    const below = nodesAt(width, height);
    const next = at + below * HASH_BYTES;
    const words = [at / 4, (zeros + height * HASH_BYTES) / 4, next / 4, below, ...changes(mark, mark + below)];
    kernels.push(kernel(above, words, nodesAt(width, height + 1), 2 * COMPRESSION));
    at = next;
    mark += below;
  }
  return kernels;
}
