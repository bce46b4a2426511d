import { dtypeBytes, writeWord, type DType, type Word } from "../../src/numerics/dtype.ts";

/** The bytes of a tensor of some words. */
export function tensorOf(dtype: DType, words: readonly Word[]): Uint8Array {
  const bytes = new Uint8Array(dtypeBytes(dtype) * words.length);
  words.forEach((word, k) => writeWord(bytes, k, dtype, word));
  return bytes;
}
