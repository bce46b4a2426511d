import { dtypeBytes, DType } from "../../numerics/dtype.ts";
import { HEADER_BYTES } from "../../program/limits.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import { coveringFee, jobGas, jobShape } from "../../dispute/jobCost.ts";
import { refusalOf, type WorkerPolicy } from "./jobPolicy.ts";

/** The smallest program: no job takes less gas than one of it. */
const SMALLEST: Parameters<typeof jobShape>[0] = {
  headerBytes: HEADER_BYTES.fixed,
  checkpoints: 1,
  outputBytes: [dtypeBytes(DType.bool)],
};

/** What decides which jobs are worth a program that is not known yet. */
type WantedFor = {
  policy: WorkerPolicy;
  /** Of the deployment. */
  rate: bigint;
  arityBits: number;
  /** wei. */
  gasPrice: bigint;
  /** The chain's time, unix seconds. */
  now: bigint;
};

/**
 * The best paid of the jobs that this worker would claim if it knew their programs. What its gas costs is not known
 * without the program: it is taken to be that of the smallest one. Pure.
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
