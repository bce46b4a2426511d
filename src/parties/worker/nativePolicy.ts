import type { Address } from "viem";
import { workSeconds } from "../../chain/market/clock.ts";
import type { JobRecord } from "../../chain/market/history.ts";
import type { Parameters } from "../../chain/structs.ts";

/** Which jobs a worker answers natively. */
export type NativePolicy = {
  /** Requesters who are believed not to search for inputs on which native arithmetic is wrong. */
  requesters: readonly Address[];
  /** Maximum collateral of claims without exact execution, in the smallest unit of the stake asset. */
  exposure: bigint;
};

type Terms = Pick<Parameters, "rate" | "baseClock" | "collateral">;
type NativeJob = { job: Pick<JobRecord["job"], "requester" | "work"> };

/**
 * Returns the reason why a job in answer form is executed exactly before submission.
 *
 * INVARIANT: if games open on all claims without exact execution, the claims' worst executions together take at most
 * half of the shortest clock. Claims without a timely defence die.
 *
 * @param open Jobs of own disputable claims without exact execution.
 * @returns undefined if the job may be answered natively
 */
export function nativeRefusal(
  { job }: NativeJob,
  open: readonly NativeJob[],
  { requesters, exposure }: NativePolicy,
  { rate, baseClock, collateral }: Terms,
): string | undefined {
  if (!requesters.some((listed) => listed.toLowerCase() === job.requester.toLowerCase()))
    return `the requester ${job.requester} is not listed`;
  if (BigInt(open.length + 1) * collateral > exposure)
    return `with ${open.length} claims open, the collateral of one more exceeds the exposure allowed`;
  const seconds = [job, ...open.map((one) => one.job)].map(({ work }) => workSeconds(work, rate));
  const clock = baseClock + 2 * Math.min(...seconds);
  const worst = seconds.reduce((sum, each) => sum + each, 0);
  if (2 * worst > clock)
    return `executing all open claims exactly may take ${worst} s, more than half a clock of ${clock} s`;
  return undefined;
}
