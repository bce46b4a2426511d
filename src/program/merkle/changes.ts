import { UNIT_BYTES } from "./levels.ts";
import { CHUNK_BYTES } from "./sizes.ts";

/**
 * Makes a copy of a tensor equal to the tensor by copying all differing chunks. Bytes are compared, not numbers.
 * @param max Maximum number of differing chunks; after more, the rest is copied without comparing.
 * @returns The numbers of the differing chunks, increasing; undefined if more than `max` differ.
 */
export function copyChanges(tensor: Uint8Array, copy: Uint8Array, max: number): number[] | undefined {
  const changed: number[] = [];
  for (let from = 0; from < tensor.length; from += UNIT_BYTES) {
    const [end, to] = [Math.min(from + UNIT_BYTES, tensor.length), from + UNIT_BYTES];
    // Many chunks at once first: mostly none has changed, and a call costs as much as some hundred bytes.
    if (areEqual(tensor.subarray(from, to), copy.subarray(from, to))) continue;
    for (let at = from; at < end; at += CHUNK_BYTES) {
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
  return changed;
}

const areEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
