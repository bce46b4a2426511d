import { canonicalWord, DType, dtypeBytes, isFloat, writeWord } from "../../numerics/dtype.ts";

/** A copy of a tensor's bytes with one zero, one NaN, and bool bytes 0 or 1. */
export function canonicalBytes(bytes: Uint8Array, dtype: DType): Uint8Array {
  const copy = new Uint8Array(bytes);
  if (dtype === DType.bool) return copy.map((byte) => (byte === 0 ? 0 : 1));
  if (!isFloat(dtype)) return copy;
  const size = dtypeBytes(dtype);
  // The highest bits of an element hold its sign and exponent: only -0 and NaNs change, and most elements are neither.
  const highest = dtype === DType.float64 ? 0x7ff0 : dtype === DType.float16 ? 0x7c00 : 0x7f80;
  const halves = new Uint16Array(copy.buffer);
  const step = size / 2;
  for (let at = step - 1, i = 0; at < halves.length; at += step, i++) {
    const high = halves[at]!;
    if (high !== 0x8000 && (high & highest) !== highest) continue;
    let raw = 0n;
    for (let k = size - 1; k >= 0; k--) raw = (raw << 8n) | BigInt(copy[i * size + k]!);
    writeWord(copy, i, dtype, canonicalWord(raw, dtype));
  }
  return copy;
}
