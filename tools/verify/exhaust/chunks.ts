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
