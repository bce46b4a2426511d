import { isAddressEqual, type Address, type Hex } from "viem";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";

/** How far a part's latest job is on chain. */
export type PartState =
  /** Not on chain, as far as is known. */
  | { kind: "unseen" }
  | { kind: "awaitingInput" }
  /** Nobody has it. */
  | { kind: "open" }
  /** The worker is late, or no worker can take the job in time: anybody may end the job. */
  | { kind: "late" }
  | { kind: "claimed" }
  | { kind: "submitted"; claim: ClaimRecord }
  /** The claim's window is over, without an open game. */
  | { kind: "due"; claim: ClaimRecord }
  | { kind: "final"; claim: ClaimRecord }
  /** No result will come, and the fee went back. */
  | { kind: "closed" };

/** The jobs of an account by their salts. */
export function ownJobs(jobs: ReadonlyMap<Hex, JobRecord>, account: Address): Map<Hex, JobRecord> {
  const own = [...jobs.values()].filter(({ job }) => isAddressEqual(job.requester, account));
  return new Map(own.map((record) => [record.job.salt, record]));
}

/** How far a job is. @param now The chain's time, unix seconds. */
export function partState(record: JobRecord | undefined, now: bigint): PartState {
  if (record === undefined) return { kind: "unseen" };
  const { job, claims, open, holder, closed } = record;
  if (closed) return { kind: "closed" };
  const final = claims.find(({ finalised }) => finalised);
  if (final !== undefined) return final.reclaimed ? { kind: "closed" } : { kind: "final", claim: final };
  if (holder !== undefined) return { kind: now > holder.until ? "late" : "claimed" };
  const isTooLate = now + BigInt(job.claimSeconds) > job.deadline;
  if (open) return { kind: isTooLate ? "late" : "open" };
  const last = claims.at(-1);
  if (last === undefined || last.refuted) return { kind: isTooLate ? "late" : "awaitingInput" };
  const isDisputed = last.games.some(({ closed: ended }) => ended === undefined);
  return { kind: now > last.windowEnd && !isDisputed ? "due" : "submitted", claim: last };
}

/** Whether a worker took a job, if late or wrong. */
export const isWanted = (record: JobRecord | undefined): boolean =>
  record === undefined || record.claims.length > 0 || record.late.size > 0;

/** Seconds after a window's end in which the worker may make its claim final itself. */
const FINALISE_AFTER = 60n;

/** Whether a worker had the time to make its claim final itself. @param now The chain's time, unix seconds. */
export const isLeft = ({ windowEnd }: ClaimRecord, now: bigint): boolean => now > windowEnd + FINALISE_AFTER;
