import { DType, type DType as DTypeCode } from "../numerics/dtype.ts";
import { bytesOf, readableArray } from "./arrays.ts";
import type { Machine } from "./machine.ts";

/** Bytes that are written and made canonical at a time, while they are in the cache. */
const BLOCK = 2 ** 15;
const VECTOR = 16;

/**
 * Writes a tensor's bytes into the memory in canonical form, the form every read sees.
 * @param address The address of a region; writing may also touch bytes in its margin.
 */
export function writeTensor(
  { views, kernels }: Pick<Machine, "views" | "kernels">,
  bytes: Uint8Array,
  address: number,
  dtype: DTypeCode,
): void {
  if (dtype !== DType.float32) return views.bytes.set(bytesOf(readableArray(bytes, dtype)), address);
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    views.bytes.set(block, address + at);
    kernels.canonicalise(address + at, Math.ceil(block.length / VECTOR));
  }
}
