import { createHash } from "node:crypto";

/** Number of chunks. A chunk's inputs share their upper eight bits, the chunk's number. */
export const CHUNKS = 256;
/** Inputs in a chunk. */
export const CHUNK = 2 ** 24;

/**
 * Writes a chunk's input bits, from number `first` on: one input per `stride`, a power of two. The input is not always
 * the first, whose last bits would be zeros.
 */
export function writeInputs(inputs: Uint32Array, chunk: number, first: number, stride: number): void {
  const start = chunk << 24;
  for (let k = 0; k < inputs.length; k++) {
    const n = first + k;
    inputs[k] = (start + Math.imul(n, stride) + ((Math.imul(n, 0x9e3779b1) >>> 8) & (stride - 1))) | 0;
  }
}

/** SHA-256 over the hashes of all chunks, in order. */
export function hashOfChunks(chunks: readonly string[]): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk, "hex");
  return hash.digest("hex");
}
