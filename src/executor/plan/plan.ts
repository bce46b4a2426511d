import type { DType } from "../../numerics/dtype.ts";
import type { TensorArray } from "../arrays.ts";
import type { CertificateStats } from "../product/certificate.ts";
import type { MatMulEngine } from "../product/matMulEngine.ts";

/** What steps are executed with. */
export type StepContext = {
  engine: MatMulEngine;
  /** Terms from which a matrix product is handed to the engine. */
  leastWork: number;
  /** Elements of gathered terms that are held at a time, where the digits allow to cut. */
  chunkElements: number;
  stats: CertificateStats;
};

/** Computes a step's tensor from its sources: canonical, but for NaNs and zeros of a float32 result. */
export type StepPlan = (sources: readonly TensorArray[], context: StepContext) => Promise<TensorArray>;

/** Computes a reduction's accumulators. */
export type ReductionPlan = {
  /** For each out digit, its stride in the accumulators. */
  strides: readonly number[];
  types: readonly DType[];
  run(sources: readonly TensorArray[], context: StepContext): Promise<TensorArray[]>;
};

/** Cuts `0 .. radix - 1` into ranges of at most `chunkElements`, `elementsPerValue` for each value; at least one value each. */
export function* ranges(
  radix: number,
  elementsPerValue: number,
  chunkElements: number,
): Generator<[start: number, end: number]> {
  const length = Math.max(1, Math.floor(chunkElements / elementsPerValue));
  for (let start = 0; start < radix; start += length) yield [start, Math.min(radix, start + length)];
}
