import { UNIT_BYTES } from "./levels.ts";
import { CHUNK_BYTES } from "./sizes.ts";

/** Some bytes of a tensor, `from .. to - 1`. */
export type BytesOfTensor = { from: number; to: number };

/**
 * Makes a copy of a tensor equal to the tensor by copying all differing chunks. Bytes are compared, not numbers.
 * @param max Maximum number of differing chunks; after more, the rest is copied without comparing.
 * @param parts The bytes that may differ, in order; by default all.
 * @returns The numbers of the differing chunks, increasing; undefined if more than `max` differ.
 */
export function copyChanges(
  tensor: Uint8Array,
  copy: Uint8Array,
  max: number,
  parts: readonly BytesOfTensor[] = [{ from: 0, to: tensor.length }],
): number[] | undefined {
  const changed: number[] = [];
  let next = 0;
  for (const part of parts) {
    next = Math.max(next, part.from - (part.from % CHUNK_BYTES));
    const last = Math.min(part.to, tensor.length);
    for (let from = next; from < last; from = next) {
      next = Math.min(from + UNIT_BYTES, last + ((CHUNK_BYTES - (last % CHUNK_BYTES)) % CHUNK_BYTES));
      // Many chunks at once first: mostly none has changed, and a call costs as much as some hundred bytes.
      if (areEqual(tensor.subarray(from, next), copy.subarray(from, next))) continue;
      for (let at = from; at < Math.min(next, tensor.length); at += CHUNK_BYTES) {
        const chunk = tensor.subarray(at, at + CHUNK_BYTES);
        if (areEqual(chunk, copy.subarray(at, at + CHUNK_BYTES))) continue;
        if (changed.length >= max) {
          copy.set(tensor.subarray(at), at);
          return undefined;
        }
        copy.set(chunk, at);
        changed.push(at / CHUNK_BYTES);
      }
    }
  }
  return changed;
}

const areEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
