import { sha256, toHash, type Hash } from "./hash.ts";
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

const knownZeros = new Map<number, WeakRef<Uint8Array>>();

/** Returns a tensor of zeros that all callers share: nobody may write to the tensor. */
export function sharedZeros(length: number): Uint8Array {
  const known = knownZeros.get(length)?.deref();
  if (known !== undefined) return known;
  const zeros = new Uint8Array(length);
  knownZeros.set(length, new WeakRef(zeros));
  return zeros;
}

/** Whether all bytes of a tensor are zero. */
export function isZeros(tensor: Uint8Array): boolean {
  const { buffer, byteOffset, length } = tensor;
  if (knownZeros.get(length)?.deref() === tensor) return true;
  // By words where they are aligned: state may have gigabytes.
  const words = byteOffset % 4 === 0 ? new Uint32Array(buffer, byteOffset, length >>> 2) : new Uint32Array(0);
  for (let k = 0; k < words.length; k++) if (words[k] !== 0) return false;
  for (let k = 4 * words.length; k < length; k++) if (tensor[k] !== 0) return false;
  return true;
}

/**
 * Returns the root for a tensor with the given number of zero bytes, at least one: a few hashes, whatever the length.
 */
export function zeroRoot(length: number): Hash {
  let full = sha256(new Uint8Array(CHUNK_BYTES));
  let edge = full;
  let padding: Uint8Array = new Uint8Array(full.length);
  // Nodes of each height: over chunks only, over the last chunk, over padding only.
  for (let last = chunksOf(length) - 1; last > 0; last = Math.floor(last / 2)) {
    edge = last % 2 === 1 ? sha256(full, edge) : sha256(edge, padding);
    full = sha256(full, full);
    padding = sha256(padding, padding);
  }
  return toHash(edge);
}
