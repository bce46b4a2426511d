import { canonicalWord, DType, dtypeBytes, isFloat, writeWord } from "../../numerics/dtype.ts";

/** A copy of a tensor's bytes with one zero, one NaN, and bool bytes 0 or 1. */
export function canonicalBytes(bytes: Uint8Array, dtype: DType): Uint8Array {
  const copy = Uint8Array.from(bytes);
  if (dtype === DType.bool) return copy.map((byte) => (byte === 0 ? 0 : 1));
  if (!isFloat(dtype)) return copy;
  const view = new DataView(copy.buffer);
  const size = dtypeBytes(dtype);
  // The highest bits of an element hold its sign and exponent: only -0 and NaNs change, and most elements are neither.
  const highest = size === 4 ? 0x7f80 : dtype === DType.float64 ? 0x7ff0 : dtype === DType.float16 ? 0x7c00 : 0x7f80;
  for (let i = 0; i * size < copy.length; i++) {
    const high = view.getUint16((i + 1) * size - 2, true);
    if (high !== 0x8000 && (high & highest) !== highest) continue;
    let raw = 0n;
    for (let k = size - 1; k >= 0; k--) raw = (raw << 8n) | BigInt(copy[i * size + k]!);
    writeWord(copy, i, dtype, canonicalWord(raw, dtype));
  }
  return copy;
}
