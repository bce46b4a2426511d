import type { Hex } from "viem";
import type { JobRecord } from "../market/history.ts";
import { followMarket, type Reader } from "../market/session.ts";
import { JobUnknownError } from "../sdk/errors.ts";

/** A job from the market's events, and the chain's time. @throws JobUnknownError */
export async function findJob(reader: Reader, jobId: Hex): Promise<{ job: JobRecord; now: bigint }> {
  const { history, now } = await followMarket(reader)();
  const job = history.jobs.get(jobId);
  if (job === undefined)
    throw new JobUnknownError(`no job ${jobId} on this market since block ${reader.fromBlock} (--from-block)`);
  return { job, now };
}
