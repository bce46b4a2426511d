import { isAddressEqual, type Address } from "viem";
import { Outcome } from "../src/chain/types.ts";
import type { ClaimRecord, GameRecord, History, JobRecord } from "../src/chain/history.ts";

const isLost = ({ closed }: GameRecord): boolean => closed?.outcome === Outcome.workerWon;

/** A thing to do in a round. */
export type Task =
  | { kind: "play"; job: JobRecord; claim: ClaimRecord; game: GameRecord }
  | { kind: "settle"; job: JobRecord; claim: ClaimRecord; game: GameRecord }
  | { kind: "audit"; job: JobRecord; claim: ClaimRecord; lost: readonly GameRecord[] };

/**
 * What a watcher has to do now, most urgent first: its own games, whose clocks run; then the claims in their windows, the one that
 * closes first at the front; then bonds to take back. Pure.
 */
export function schedule(history: History, me: Address, now: bigint): Task[] {
  const plays: Task[] = [];
  const settles: Task[] = [];
  const audits: (Task & { kind: "audit" })[] = [];
  for (const claim of history.claims.values()) {
    const job = history.jobs.get(claim.jobId);
    if (job === undefined) continue;
    const own = claim.games.filter(({ challenger }) => isAddressEqual(challenger, me));
    for (const game of own.filter(({ closed }) => closed === undefined)) {
      (claim.refuted ? settles : plays).push({ kind: claim.refuted ? "settle" : "play", job, claim, game });
    }
    const disputable = !claim.refuted && !claim.finalised && now <= claim.windowEnd;
    // A game may have been lost by the clock, while this watcher or its node was down: the claim is as wrong as before.
    if (disputable && own.every(isLost)) audits.push({ kind: "audit", job, claim, lost: own });
  }
  audits.sort((a, b) => Number(a.claim.windowEnd - b.claim.windowEnd));
  return [...plays, ...audits, ...settles];
}
