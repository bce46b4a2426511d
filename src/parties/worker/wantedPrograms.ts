import { dtypeBytes, DType } from "../../numerics/dtype.ts";
import { HEADER_BYTES } from "../../program/limits.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { coveringFee, jobGas, jobShape } from "../../dispute/jobCost.ts";
import { refusalOf, type WorkerPolicy } from "./jobPolicy.ts";

/** The smallest program: every job takes at least the gas of a job for the smallest program. */
const SMALLEST: Parameters<typeof jobShape>[0] = {
  headerBytes: HEADER_BYTES.fixed,
  checkpoints: 1,
  outputBytes: [dtypeBytes(DType.bool)],
};

/** The facts for deciding which jobs are worth an unknown program. */
type WantedFor = {
  policy: WorkerPolicy;
  /** The deployment's rate. */
  rate: bigint;
  arityBits: number;
  /** wei. */
  gasPrice: bigint;
  /** The chain's time, unix seconds. */
  now: bigint;
};

/**
 * Returns the best-paid job that the worker would claim if the program were known. The gas cost is unknown without the
 * program: the function uses the smallest program's gas. The function is pure.
 */
export function bestUnknown(
  jobs: readonly JobRecord[],
  { policy, rate, arityBits, gasPrice, now }: WantedFor,
): JobRecord | undefined {
  const costOf = ({ job }: JobRecord): bigint => coveringFee(jobGas(jobShape(SMALLEST, job, arityBits)), gasPrice);
  // One by one until one is suitable: to look at a job hashes its input, and anybody may post any number of jobs.
  return [...jobs]
    .sort((a, b) => Number(b.job.fee - a.job.fee))
    .find((record) => refusalOf(record, costOf(record), policy, rate, now) === undefined);
}
