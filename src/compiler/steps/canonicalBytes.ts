import { canonicalWord, DType, dtypeBytes, isFloat, writeWord } from "../../numerics/dtype.ts";

/**
 * Returns a tensor's bytes with a single zero, a single NaN, and bool bytes 0 or 1: the same bytes if already canonical
 * and alone in their memory, else a copy.
 */
export function canonicalBytes(bytes: Uint8Array, dtype: DType): Uint8Array {
  if (dtype === DType.bool) return bytes.map((byte) => (byte === 0 ? 0 : 1));
  let canonical = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
  if (!isFloat(dtype)) return canonical;
  const size = dtypeBytes(dtype);
  // An element's highest bits hold sign and exponent: only -0 and NaNs change, and most elements are neither.
  const highest = dtype === DType.float64 ? 0x7ff0 : dtype === DType.float16 ? 0x7c00 : 0x7f80;
  const halves = new Uint16Array(canonical.buffer);
  const step = size / 2;
  for (let at = step - 1, i = 0; at < halves.length; at += step, i++) {
    const high = halves[at]!;
    if (high !== 0x8000 && (high & highest) !== highest) continue;
    let raw = 0n;
    for (let k = size - 1; k >= 0; k--) raw = (raw << 8n) | BigInt(bytes[i * size + k]!);
    const word = canonicalWord(raw, dtype);
    if (word === raw) continue;
    if (canonical === bytes) canonical = new Uint8Array(bytes);
    writeWord(canonical, i, dtype, word);
  }
  return canonical;
}
