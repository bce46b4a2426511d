import type { DecidingTensor } from "../model/decision/margin.ts";
import { CONSTRUCTORS } from "../executor/arrays.ts";
import { widenedBits } from "../executor/halfBits.ts";
import { DType, isHalf } from "../numerics/dtype.ts";

/** Returns the floats in a tensor's bytes, for reading margins. Aligned bytes are not copied. */
export function decidingTensor(bytes: Uint8Array, dtype: DType, dims: readonly number[]): DecidingTensor {
  const size = CONSTRUCTORS[dtype].BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
  const buffer = aligned.buffer as ArrayBuffer;
  const count = aligned.length / size;
  if (dtype === DType.float64) return { dims, data: new Float64Array(buffer, aligned.byteOffset, count) };
  if (!isHalf(dtype)) return { dims, data: new Float32Array(buffer, aligned.byteOffset, count) };
  const words = new Uint16Array(buffer, aligned.byteOffset, count);
  return { dims, data: new Float32Array(Uint32Array.from(words, (word) => widenedBits(word, dtype)).buffer) };
}
