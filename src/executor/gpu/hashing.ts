import { chunksOf, levelBytes } from "../../program/merkle/levels.ts";
import { depthOf, HASH_BYTES, nodesAt } from "../../program/merkle/sizes.ts";
import type { Kernel } from "./kernel.ts";
import { shaderOf } from "./wgsl/library.ts";
import { CHANGED_LEAVES, CHANGED_NODES, LEAVES, NODES } from "./wgsl/sha256.ts";

/** Operations of one compression of SHA-256. */
const COMPRESSION = 1_500;

/** Where a tensor and its tree lie: byte addresses. */
type Hashed = { tensor: number; bytes: number; nodes: number; zeros: number };

/**
 * Where the tensor of the execution before lies, a mark for each node, and the word that says whether all counts as
 * changed: byte addresses.
 */
type Followed = { before: number; marks: number; anew: number };

/** The bytes of the marks of a tensor's nodes. */
export const markBytes = (bytes: number): number => (levelBytes(chunksOf(bytes)) / HASH_BYTES) * 4;

/**
 * The kernels that hash a tensor into the nodes of its tree.
 * @param followed If given, only what differs from the execution before is hashed.
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
