import type { ClaimRecord, GameRecord, JobRecord } from "../../src/chain/market/history.ts";
import { Outcome } from "../../src/chain/structs.ts";
import { clock } from "../format.ts";

/** A phase in words, and how much it stands out: what is disputed or refuted is loud, what is settled firm. */
export type PhaseView = { text: string; weight: "plain" | "firm" | "loud" };

const plain = (text: string): PhaseView => ({ text, weight: "plain" });
const firm = (text: string): PhaseView => ({ text, weight: "firm" });
const loud = (text: string): PhaseView => ({ text, weight: "loud" });

/** Where a job stands. @param now The chain's time, unix seconds. */
export function jobPhase(job: JobRecord, now: bigint): PhaseView {
  const last = job.claims.at(-1);
  if (job.closed) return plain("closed");
  if (job.open) return plain(last?.refuted === true ? "open again" : "open");
  if (last !== undefined && !last.refuted) return claimPhase(last, now);
  if (job.sealed !== undefined) return plain("sealed");
  if (job.holder !== undefined) return plain("being computed");
  return plain("waits for inputs");
}

/** Where a claim stands. */
export function claimPhase(claim: ClaimRecord, now: bigint): PhaseView {
  if (claim.refuted) return loud("refuted");
  if (claim.finalised) return firm(claim.delivered.size > 0 ? "final, delivered" : "final");
  if (claim.accepted) return firm("accepted");
  if (claim.games.some(({ closed }) => closed === undefined)) return loud("in dispute");
  const left = Number(claim.windowEnd - now);
  return plain(left > 0 ? `claimed, ${clock(left)} to dispute` : "window over");
}

/** Where a game stands. */
export function gamePhase({ closed, moves }: GameRecord): PhaseView {
  if (closed?.outcome === Outcome.challengerWon) return loud("refuted");
  if (closed?.outcome === Outcome.workerWon) return firm("the claim held");
  if (closed?.outcome === Outcome.settled) return firm("settled");
  return loud(`move ${moves.length + 1}`);
}
