import { sha256Into, type Hash } from "./hash.ts";
import { MerkleList } from "./list.ts";

/** Bytes in one leaf of a tensor. */
export const CHUNK_BYTES = 512;

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
  const width = Math.ceil(tensor.length / CHUNK_BYTES);
  const leaves = Buffer.alloc(width * 32);
  for (let i = 0; i < width; i++) sha256Into(leaves, i * 32, chunkOf(tensor, i));
  return new MerkleList(leaves);
}

/** The root of a tensor's tree. */
export const tensorRoot = (tensor: Uint8Array): Hash => tensorTree(tensor).root;
