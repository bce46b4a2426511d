import type { Hash } from "./hash.ts";
import { chunksOf, levelBytes, Levels, unitsOf } from "./levels.ts";
import { MerkleList } from "./list.ts";
import { CHUNK_BYTES } from "./sizes.ts";

/** Chunk `index` of a tensor, zero-padded to 512 bytes. */
export function chunkOf(tensor: Uint8Array, index: number): Uint8Array {
  const chunk = tensor.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
  if (chunk.length === CHUNK_BYTES) return chunk;
  const padded = new Uint8Array(CHUNK_BYTES);
  padded.set(chunk);
  return padded;
}

/** The tree over the 512-byte chunks of a tensor's bytes. */
export function tensorTree(tensor: Uint8Array): MerkleList {
  const width = chunksOf(tensor.length);
  const levels = new Levels(width, new Uint8Array(levelBytes(width)));
  for (let unit = 0; unit < unitsOf(tensor.length); unit++) levels.hashUnit(tensor, unit);
  levels.hashTop();
  return MerkleList.fromLevels(levels);
}

/** The root of a tensor's tree. */
export const tensorRoot = (tensor: Uint8Array): Hash => tensorTree(tensor).root;

/** The list of a job's input tensor roots. */
export const inputsList = (inputs: readonly Uint8Array[]): MerkleList => MerkleList.fromHashes(inputs.map(tensorRoot));
