import { isAddressEqual, type Address, type Hex } from "viem";
import { questionOf, stands, type History, type JobRecord, type ProtocolEvent } from "./history.ts";
import { sourcesOf } from "./jobInputs.ts";

/**
 * Decides how much of a job may be forgotten: everything, once all about the job is over, or only the input bytes, if
 * this process will not execute the job.
 */
export type Forget = (job: JobRecord, now: bigint) => Forgotten;
type Forgotten = "all" | "inputs" | "nothing";

/** How many blocks a finished job stays known after the last event: 51 minutes of L1. */
export const REMEMBERED_BLOCKS = 256n;

/** The more is kept, the higher. */
const KEEPS: Record<Forgotten, number> = { all: 0, inputs: 1, nothing: 2 };

/** Forgets only those facts about a job no party needs any more. */
export const leastForgetful =
  (forgets: readonly Forget[]): Forget =>
  (job, now) =>
    forgets.map((forget) => forget(job, now)).reduce((a, b) => (KEEPS[b] > KEEPS[a] ? b : a), "all");

/**
 * Chooses the forgotten part of each job. A job that supplies another job's inputs keeps more than requested. The
 * record stays until the other job's record goes, and the bytes stay while the other job needs them.
 * @param isOld Whether a job may be forgotten now.
 */
export function chooseForgotten(
  { jobs }: Pick<History, "jobs">,
  forget: Forget,
  now: bigint,
  isOld: (job: JobRecord) => boolean,
): Record<Forgotten, Set<Hex>> {
  const choices = new Map<Hex, Forgotten>();
  for (const job of jobs.values()) if (isOld(job)) choices.set(job.id, forget(job, now));
  for (const job of jobs.values()) {
    const sources = sourcesOf(job);
    if (sources.length === 0) continue;
    const needed = choices.get(job.id) ?? forget(job, now);
    for (const { id } of sources) if (KEEPS[needed] > KEEPS[choices.get(id) ?? "nothing"]) choices.set(id, needed);
  }
  const chosen = { all: new Set<Hex>(), inputs: new Set<Hex>(), nothing: new Set<Hex>() };
  for (const [id, choice] of choices) chosen[choice].add(id);
  return chosen;
}

/**
 * Returns whether a job can no longer concern an account: the job is closed or out of time, its claims are past
 * dispute, and the account's games are over. A job with seals stays until no seal can be opened. A seat added to a
 * panel takes its inputs from the first seat, even if nobody took the first seat.
 * @param baseClock The deployment's base clock, in seconds: the time for opening seals.
 */
export function isOver(record: JobRecord, now: bigint, me: Address, baseClock: number): boolean {
  const { job, terms, closed, holder, sealed, claims } = record;
  // A sealed job will still be opened after the deadline. If not, somebody closes the job for a payment.
  if (sealed !== undefined) return false;
  if (terms !== undefined && terms.openFrom !== 0 && now <= BigInt(terms.openFrom + baseClock)) return false;
  const isHeld = holder !== undefined && now <= holder.until;
  const last = claims.at(-1);
  const isSettled = last !== undefined && !last.refuted;
  if (!closed && !isSettled && (isHeld || now <= job.deadline)) return false;
  return claims.every((claim) => {
    const open = claim.games.filter((game) => game.closed === undefined);
    if (claim.refuted) return open.every(({ challenger }) => !isAddressEqual(challenger, me));
    return open.length === 0 && (stands(claim) || now > claim.windowEnd);
  });
}

/** Returns the job that an event concerns, if the history knows the job. */
export function jobOf({ claims, games }: History, { args }: ProtocolEvent): Hex | undefined {
  const { jobId, claimId, gameId } = args as { jobId?: Hex; claimId?: Hex; gameId?: Hex };
  return jobId ?? claims.get(claimId ?? games.get(gameId ?? "0x")?.claimId ?? "0x")?.jobId;
}

/** Removes jobs from a history, with all their records. */
export function removeJobs({ jobs, claims, games, parts, alike }: History, gone: ReadonlySet<Hex>): void {
  const questions = new Set<string>();
  for (const id of gone) {
    for (const claim of jobs.get(id)?.claims ?? []) {
      for (const game of claim.games) games.delete(game.id);
      claims.delete(claim.id);
    }
    const job = jobs.get(id);
    if (job !== undefined) questions.add(questionOf(job.job));
    jobs.delete(id);
    parts.delete(id);
  }
  for (const question of questions) {
    // The remaining records share this very list.
    const same = alike.get(question)!;
    const left = same.filter(({ id }) => !gone.has(id));
    same.length = 0;
    for (const record of left) same.push(record);
    if (left.length === 0) alike.delete(question);
  }
}
