import type { Address, Hex } from "viem";
import { jobMarketAbi } from "../../chain/abi/jobMarket.ts";
import { LogStore } from "../../chain/logStore.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import type { Reader } from "../../chain/market/reader.ts";
import { followMarket } from "../../chain/market/session.ts";
import { progressOf, requireJob, type JobProgress } from "./result.ts";

/** A job of a requester. Times are unix seconds, the fee is in the smallest unit of the stake asset. */
type ListedJob = JobProgress & { job: Hex; programRoot: Hex; fee: bigint; posted: bigint; deadline: bigint };

/** Something that happened to a job. */
type JobEvent = { time: bigint; event: string; worker?: Address; transaction: Hex };

/**
 * Lists the latest jobs of a requester, oldest first.
 * @param most Jobs listed at most.
 * @returns also the number of all its jobs
 */
export async function jobsOf(
  reader: Reader,
  requester: Address,
  most: number,
): Promise<{ jobs: ListedJob[]; total: number }> {
  const { history, blockNumber } = await followMarket(reader)();
  const own = [...history.jobs.values()].filter(({ job }) => job.requester === requester);
  const jobs: ListedJob[] = [];
  for (const record of own.slice(-most)) {
    const { id, job, postedIn } = record;
    const { programRoot, fee, deadline } = job;
    const posted = await timeOf(reader, await blockOf(reader, postedIn));
    jobs.push({ job: id, programRoot, fee, posted, deadline, ...(await progressOf(reader, record, blockNumber)) });
  }
  return { jobs, total: own.length };
}

/**
 * Reads how far a job is, its record, and what happened to the job, oldest first.
 * @param names The market's events that are told. @throws JobUnknownError
 */
export async function jobWithEvents(
  reader: Reader,
  jobId: Hex,
  names: readonly string[],
): Promise<{ progress: JobProgress; record: JobRecord; events: JobEvent[] }> {
  const { history, blockNumber } = await followMarket(reader)();
  const record = requireJob(reader, history, jobId);
  const progress = await progressOf(reader, record, blockNumber);
  return { progress, record, events: await eventsOf(reader, record, names) };
}

async function eventsOf(reader: Reader, { id, postedIn }: JobRecord, names: readonly string[]): Promise<JobEvent[]> {
  const { publicClient, deployment } = reader;
  const store = new LogStore(publicClient, [deployment.market], jobMarketAbi, await blockOf(reader, postedIn));
  await store.sync();
  const times = new Map<bigint, bigint>();
  const events: JobEvent[] = [];
  for (const { eventName, args, blockNumber, transactionHash } of store.events) {
    if (!names.includes(eventName) || (args as { jobId?: Hex }).jobId !== id) continue;
    const time = times.get(blockNumber) ?? (await timeOf(reader, blockNumber));
    times.set(blockNumber, time);
    const { worker } = args as { worker?: Address };
    events.push({ time, event: eventName, ...(worker !== undefined && { worker }), transaction: transactionHash });
  }
  return events;
}

const blockOf = async ({ publicClient }: Reader, hash: Hex): Promise<bigint> =>
  (await publicClient.getTransactionReceipt({ hash })).blockNumber;

const timeOf = async ({ publicClient }: Reader, blockNumber: bigint): Promise<bigint> =>
  (await publicClient.getBlock({ blockNumber })).timestamp;
