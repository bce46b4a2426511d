import { canonicalWord, DType } from "../numerics/dtype.ts";

/** A copy of a tensor's bytes with one zero, one NaN, and bool bytes 0 or 1. */
export function canonicalBytes(bytes: Uint8Array, dtype: DType): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (dtype === DType.bool) return copy.map((byte) => (byte === 0 ? 0 : 1));
  if (dtype !== DType.float32) return copy;
  const view = new DataView(copy.buffer);
  for (let at = 0; at < copy.length; at += 4) {
    const bits = view.getUint32(at, true);
    // Only a negative zero and the bit patterns of NaNs change.
    if (bits === 0x80000000 || (bits & 0x7fffffff) > 0x7f800000)
      view.setUint32(at, Number(canonicalWord(BigInt(bits), dtype)), true);
  }
  return copy;
}
