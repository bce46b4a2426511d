import type { OpName } from "../../../src/program/operations.ts";
import { ELEMENTARY } from "../../../src/numerics/kernels/elementary/estimates.ts";

/** The functions of one float32. */
export const FUNCTIONS: readonly OpName[] = ELEMENTARY.filter((name) => name !== "pow");

/** The two builds of the kernels: products and sums in one instruction, rounded once, or in two. */
export const BUILDS = ["fused", "separate"] as const;
export type BuildName = (typeof BUILDS)[number];

/** V8's options for each build. */
export const NODE_OPTIONS: Readonly<Record<BuildName, readonly string[]>> = {
  fused: [],
  separate: ["--no-enable-fma3"],
};

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

/** A build's results on one chunk, or on several. */
export type Measured = {
  /** The largest relative error of an estimate; NaN if one was no number. */
  error: number;
  /** The bits of an input with the largest error. */
  at: number;
  /** Inputs that no estimate settled: the definition was called. */
  doubts: number;
};

/** The results on a chunk. */
export type ChunkReport = {
  chunk: number;
  /** SHA-256 over the results in little-endian words, in the order of the inputs' bits. */
  hash: string;
  builds: Readonly<Record<BuildName, Measured>>;
};
