import { setTimeout as sleep } from "node:timers/promises";
import { hexToBytes, type Address, type Hex } from "viem";
import { JobMarketReader } from "../chain/clients/jobMarket.ts";
import type { ClaimRecord, JobRecord } from "../market/history.ts";
import { followMarket, type Reader } from "../market/session.ts";
import { JobStatus } from "../chain/structs.ts";
import { JobClosedError, JobUnknownError } from "./errors.ts";

/** How far a job is. */
export type JobProgress = {
  status: keyof typeof JobStatus;
  /** Who has claimed it, while somebody has. */
  worker?: Address;
  /** Of the latest claim: its trace root, and how many games dispute it. */
  claim?: { worker: Address; traceRoot: Hex; windowEnd: bigint; gamesOpen: number; refuted: boolean };
};

/** The result of a finalised job. */
export type JobResult = {
  worker: Address;
  traceRoot: Hex;
  /** The delivered outputs by their number: little-endian, row-major. */
  outputs: ReadonlyMap<number, Uint8Array>;
};

/** Reads how far a job is. @throws JobUnknownError */
export async function jobProgress(session: Reader, jobId: Hex): Promise<JobProgress> {
  const { history } = await followMarket(session)();
  return progressOf(session, found(history.jobs.get(jobId), jobId));
}

/**
 * Waits until a job is finalised and its outputs are delivered.
 * @throws JobClosedError if it ends without a result, JobUnknownError, or the signal's reason
 */
export async function waitForResult(
  session: Reader,
  jobId: Hex,
  { signal, intervalMs = 4_000 }: { signal?: AbortSignal; intervalMs?: number } = {},
): Promise<JobResult> {
  const follow = followMarket(session);
  for (;;) {
    signal?.throwIfAborted();
    const { history } = await follow();
    const job = found(history.jobs.get(jobId), jobId);
    if (job.closed) throw new JobClosedError(`job ${jobId} was closed without a result; its fee was returned`);
    const claim = job.claims.find(({ finalised }) => finalised);
    if (claim !== undefined && isDelivered(claim)) return resultOf(claim);
    await sleep(intervalMs, undefined, { signal });
  }
}

const isDelivered = ({ claim, delivered }: ClaimRecord): boolean =>
  [...delivered.keys()].reduce((bits, output) => bits | (1n << BigInt(output)), 0n) === claim.job.deliverables;

function resultOf({ claim, delivered }: ClaimRecord): JobResult {
  const outputs = new Map([...delivered].map(([output, data]) => [output, hexToBytes(data)]));
  return { worker: claim.worker, traceRoot: claim.traceRoot, outputs };
}

async function progressOf({ publicClient, deployment }: Reader, job: JobRecord): Promise<JobProgress> {
  const { status, worker } = await new JobMarketReader(deployment.market, { publicClient }).jobOf(job.id);
  const names = Object.keys(JobStatus) as (keyof typeof JobStatus)[];
  const last = job.claims.at(-1);
  const holder = status === JobStatus.submitted ? last?.claim.worker : worker;
  const claimed = status === JobStatus.claimed || status === JobStatus.submitted;
  return {
    status: names[status]!,
    ...(claimed && holder !== undefined ? { worker: holder } : {}),
    ...(last === undefined ? {} : { claim: claimProgress(last) }),
  };
}

function claimProgress({ claim, windowEnd, games, refuted }: ClaimRecord): NonNullable<JobProgress["claim"]> {
  const gamesOpen = refuted ? 0 : games.filter(({ closed }) => closed === undefined).length;
  return { worker: claim.worker, traceRoot: claim.traceRoot, windowEnd, gamesOpen, refuted };
}

function found(job: JobRecord | undefined, jobId: Hex): JobRecord {
  if (job === undefined) throw new JobUnknownError(`no job ${jobId} on this market since the first block read`);
  return job;
}
