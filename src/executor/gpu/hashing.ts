import { chunksOf, levelBytes } from "../../program/merkle/levels.ts";
import { depthOf, HASH_BYTES, nodesAt } from "../../program/merkle/sizes.ts";
import { kernelOf, type Kernel } from "./kernel.ts";
import { CHANGED_LEAVES, CHANGED_NODES, LEAVES, NODES } from "./wgsl/sha256.ts";

/** Operations for a SHA-256 compression. */
const COMPRESSION = 1_500;

/** A tensor's and a tree's byte addresses. */
type Hashed = { tensor: number; bytes: number; nodes: number; zeros: number };

/**
 * Byte addresses: the previous execution's tensor, the nodes' marks, and a word of {@link MARKING}.
 */
type Followed = { before: number; marks: number; anew: number };

/**
 * How chunks are marked: those that differ from the previous execution; all; or those that differ, and those marked
 * before, for a run of several items that is read at its end.
 */
export const MARKING = { changed: 0, all: 1, also: 2 } as const;

/** The bytes for a mark per node in a tensor's tree. */
export const markBytes = (bytes: number): number => (levelBytes(chunksOf(bytes)) / HASH_BYTES) * 4;

/**
 * Returns the kernels for a tensor's tree.
 * @param followed If given, only changes since the previous execution are hashed.
 */
export function hashKernels({ tensor, bytes, nodes, zeros }: Hashed, followed?: Followed): Kernel[] {
  const width = chunksOf(bytes);
  const [leaves, above] = followed === undefined ? [LEAVES, NODES] : [CHANGED_LEAVES, CHANGED_NODES];
  const { before, marks, anew } = followed ?? { before: 0, marks: 0, anew: 0 };
  const changes = (...words: number[]): number[] => (followed === undefined ? [] : words);
  const first = [tensor / 4, Math.ceil(bytes / 4), width, nodes / 4, ...changes(before / 4, marks / 4, anew / 4)];
  const kernels = [kernelOf(leaves, first, width, 9 * COMPRESSION)];
  let [at, mark] = [nodes, marks / 4];
  for (let height = 0; height < depthOf(width); height++) {
    const below = nodesAt(width, height);
    const next = at + below * HASH_BYTES;
    const words = [at / 4, (zeros + height * HASH_BYTES) / 4, next / 4, below, ...changes(mark, mark + below)];
    kernels.push(kernelOf(above, words, nodesAt(width, height + 1), 2 * COMPRESSION));
    at = next;
    mark += below;
  }
  return kernels;
}
