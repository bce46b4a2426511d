import type { Hex } from "viem";
import type { JobRecord } from "../../../chain/market/history.ts";
import { followMarket } from "../../../chain/market/session.ts";
import type { Reader } from "../../../chain/market/reader.ts";
import { requireJob } from "../../../parties/requester/result.ts";

/** A job from the market's events, and the chain's time. @throws JobUnknownError */
export async function findJob(reader: Reader, jobId: Hex): Promise<{ job: JobRecord; now: bigint }> {
  const { history, now } = await followMarket(reader)();
  return { job: requireJob(reader, history, jobId), now };
}
