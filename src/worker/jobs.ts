import type { Hex } from "viem";
import { jobMarketAbi } from "../chain/abi/jobMarket.ts";
import type { Executions } from "../chain/game/executions.ts";
import { inputBytesOf, type JobRecord } from "../chain/history.ts";
import { accountOf, isLive } from "../chain/ledger.ts";
import type { Session, Snapshot } from "../chain/session.ts";
import { JobStatus } from "../chain/types.ts";

/** What a worker takes. */
export type WorkerPolicy = {
  /** Least fee, in the smallest unit of the stake asset. */
  minFee: bigint;
  /** Seconds that are kept between the expected end of an execution and the end of the claim. */
  marginSeconds: number;
};

/** A job's state on chain. */
export type JobState = { job: JobRecord; status: number; worker: Hex; until: bigint };

/** The states of the jobs that are not over. */
export async function openJobs(
  { publicClient, deployment }: Session,
  { history, blockNumber }: Snapshot,
): Promise<JobState[]> {
  const jobs = [...history.jobs.values()].filter(({ closed, claims }) => !closed && !claims.some((c) => c.finalised));
  return Promise.all(
    jobs.map(async (job) => {
      const [status, worker, until] = await publicClient.readContract({
        address: deployment.market,
        abi: jobMarketAbi,
        functionName: "jobOf",
        args: [job.id],
        blockNumber,
      });
      return { job, status, worker, until };
    }),
  );
}

/** Whether a job is worth claiming: open, of a known program, with all its input at hand, paid, and with time left. Pure. */
export function isSuitable(
  { job, status }: JobState,
  executions: Pick<Executions, "knows">,
  policy: WorkerPolicy,
  rate: bigint,
  now: bigint,
): boolean {
  const { fee, claimSeconds, deadline, work } = job.job;
  // `rate` is the slowest that the deployment allows for: every element by the exact fallback.
  const needed = work / rate + BigInt(policy.marginSeconds);
  return (
    status === JobStatus.open &&
    executions.knows(job) &&
    fee >= policy.minFee &&
    BigInt(claimSeconds) >= needed &&
    now + BigInt(claimSeconds) < deadline &&
    inputBytesOf(job) !== undefined
  );
}

/** Whether the worker may claim: its attestation is live and it has unlocked stake for the collateral. */
export async function mayClaim(session: Session): Promise<boolean> {
  const { address } = session.sender;
  const [live, { staked, locked }] = await Promise.all([isLive(session, address), accountOf(session, address)]);
  return live && staked - locked >= session.deployment.parameters.collateral;
}
