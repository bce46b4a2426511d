/** Bytes in one leaf of a tensor. */
export const CHUNK_BYTES = 512;
/** Bytes of a node of a tree. */
export const HASH_BYTES = 32;

/** Returns the levels between a list's root and its leaves, for `width` leaves. */
export function depthOf(width: number): number {
  let depth = 0;
  while (2 ** depth < width) depth++;
  return depth;
}

/** Returns how many nodes on a height cover at least one leaf. */
export const nodesAt = (width: number, height: number): number => Math.ceil(width / 2 ** height);
