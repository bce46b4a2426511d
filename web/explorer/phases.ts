import type { ClaimRecord, GameRecord, JobRecord } from "../../src/chain/market/history.ts";
import { Outcome } from "../../src/chain/structs.ts";
import { clock, counted } from "../format.ts";

/**
 * A phase in words, and its colour: what is in dispute is loud, what was refuted lost, what is final good, what waits
 * for its window or for a worker is waiting.
 */
export type PhaseView = { text: string; weight: "plain" | "good" | "waiting" | "loud" | "lost" };

const plain = (text: string): PhaseView => ({ text, weight: "plain" });
const good = (text: string): PhaseView => ({ text, weight: "good" });
const waiting = (text: string): PhaseView => ({ text, weight: "waiting" });
const lost = (text: string): PhaseView => ({ text, weight: "lost" });
const loud = (text: string): PhaseView => ({ text, weight: "loud" });

/** Where a job stands. @param now The chain's time, unix seconds. */
export function jobPhase(job: JobRecord, now: bigint): PhaseView {
  const last = job.claims.at(-1);
  if (job.closed) return plain("closed");
  if (job.open) return waiting(last?.refuted === true ? "open again" : "open");
  if (last !== undefined && !last.refuted) return claimPhase(last, now);
  if (job.sealed !== undefined) return plain("sealed");
  if (job.holder !== undefined) return waiting("being computed");
  return plain("waits for inputs");
}

/** Where a claim stands. */
export function claimPhase(claim: ClaimRecord, now: bigint): PhaseView {
  if (claim.refuted) return lost("refuted");
  if (claim.finalised) return good(claim.delivered.size > 0 ? "final, delivered" : "final");
  if (claim.accepted) return good("accepted");
  if (claim.proven !== undefined) return plain("proven under a key");
  if (claim.games.some(({ closed }) => closed === undefined)) return loud("in dispute");
  const left = Number(claim.windowEnd - now);
  return waiting(left > 0 ? `claimed, ${clock(left)} to dispute` : "window over");
}

/** Where a game stands. */
export function gamePhase({ closed, moves }: GameRecord): PhaseView {
  if (closed?.outcome === Outcome.challengerWon) return lost("refuted");
  if (closed?.outcome === Outcome.workerWon) return good("the claim held");
  if (closed?.outcome === Outcome.settled) return plain("settled");
  return loud(counted(moves.length, "move"));
}
