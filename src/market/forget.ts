import { isAddressEqual, type Address, type Hex } from "viem";
import type { History, JobRecord, ProtocolEvent } from "./history.ts";

/**
 * What of a job may be forgotten: all of it, once everything about it is over; or the bytes of its inputs, if it will
 * not be executed here.
 */
export type Forget = (job: JobRecord, now: bigint) => "all" | "inputs" | "nothing";

/**
 * Whether a job can concern an account no more: it is closed or out of time, its claims are past dispute, and the
 * account's games are over.
 */
export function isOver({ job, closed, holder, claims }: JobRecord, now: bigint, me: Address): boolean {
  const isHeld = holder !== undefined && now <= holder.until;
  const last = claims.at(-1);
  const isSettled = last !== undefined && !last.refuted;
  if (!closed && !isSettled && (isHeld || now <= job.deadline)) return false;
  return claims.every(({ refuted, finalised, accepted, windowEnd, games }) => {
    const open = games.filter((game) => game.closed === undefined);
    if (refuted) return open.every(({ challenger }) => !isAddressEqual(challenger, me));
    return open.length === 0 && (finalised || accepted || now > windowEnd);
  });
}

/** The job that an event is about, as far as the history knows it. */
export function jobOf({ claims, games }: History, { args }: ProtocolEvent): Hex | undefined {
  const { jobId, claimId, gameId } = args as { jobId?: Hex; claimId?: Hex; gameId?: Hex };
  return jobId ?? claims.get(claimId ?? games.get(gameId ?? "0x")?.claimId ?? "0x")?.jobId;
}

/** Removes jobs from a history, with all that belongs to them. */
export function removeJobs({ jobs, claims, games, parts }: History, gone: ReadonlySet<Hex>): void {
  for (const id of gone) {
    for (const claim of jobs.get(id)?.claims ?? []) {
      for (const game of claim.games) games.delete(game.id);
      claims.delete(claim.id);
    }
    jobs.delete(id);
    parts.delete(id);
  }
}
