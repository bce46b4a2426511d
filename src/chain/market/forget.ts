import { isAddressEqual, type Address, type Hex } from "viem";
import { questionOf, type History, type JobRecord, type ProtocolEvent } from "./history.ts";
import { sourcesOf } from "./jobInputs.ts";

/**
 * What of a job may be forgotten: all of it, once everything about it is over; or the bytes of its inputs, if it will
 * not be executed here.
 */
export type Forget = (job: JobRecord, now: bigint) => Forgotten;
type Forgotten = "all" | "inputs" | "nothing";

/** Blocks after its last event for which a job that is over is remembered: 51 minutes of L1. */
export const REMEMBERED_BLOCKS = 256n;

/** The more is kept, the higher. */
const KEEPS: Record<Forgotten, number> = { all: 0, inputs: 1, nothing: 2 };

/**
 * What is forgotten of each of some jobs: less than is asked for, if another job has its inputs from one. Its record is
 * kept with that other job, and its bytes while these are needed there.
 * @param isOld Of those which may be forgotten now.
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
 * Whether a job can concern an account no more: it is closed or out of time, its claims are past dispute, and the
 * account's games are over. What asks for seals is kept until none can be opened any more: a seat that is added to a
 * panel has its inputs from the first one, also if nobody took that.
 * @param baseClock Of the deployment, seconds: so long seals can be opened.
 */
export function isOver(record: JobRecord, now: bigint, me: Address, baseClock: number): boolean {
  const { job, terms, closed, holder, sealed, claims } = record;
  // What is sealed is opened after the deadline; what is not opened is closed by whoever is paid for that.
  if (sealed !== undefined) return false;
  if (terms !== undefined && terms.openFrom !== 0 && now <= BigInt(terms.openFrom + baseClock)) return false;
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
    // The records that are left hold this list itself.
    const same = alike.get(question)!;
    const left = same.filter(({ id }) => !gone.has(id));
    same.length = 0;
    for (const record of left) same.push(record);
    if (left.length === 0) alike.delete(question);
  }
}
