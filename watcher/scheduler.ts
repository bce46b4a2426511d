import { isAddressEqual, type Address } from "viem";
import {
  isOpen,
  type ClaimRecord,
  type GameRecord,
  type History,
  type JobRecord,
} from "../src/chain/market/history.ts";
import { Outcome, Side } from "../src/chain/structs.ts";

const isLost = ({ closed }: GameRecord): boolean => closed?.outcome === Outcome.workerWon;

/** A game of the watcher's to be played, or its bond to be taken back. */
export type GameTask = { kind: "play" | "settle"; job: JobRecord; claim: ClaimRecord; game: GameRecord };

/** A claim to be judged, and opened a game on if it is wrong. `lost`: the watcher's games on it that are lost. */
export type AuditTask = { kind: "audit"; job: JobRecord; claim: ClaimRecord; lost: readonly GameRecord[] };

/** A watcher's current tasks, each list with the most urgent first, and its lost games. */
type Agenda = {
  plays: GameTask[];
  audits: AuditTask[];
  settles: GameTask[];
  lost: { claim: ClaimRecord; game: GameRecord }[];
};

/**
 * Returns a watcher's current tasks. Games come in the order in which the watcher's clocks run out. Claims come in the
 * order in which their windows close, with the higher fee first for equal windows. Every refutation pays the same: in
 * this order, a bond that does not cover all claims achieves the most. Claims that cannot be executed in time come
 * last. Pure.
 * @param secondsFor The time for executing a job here, in seconds.
 */
export function schedule(history: History, me: Address, now: bigint, secondsFor: (job: JobRecord) => number): Agenda {
  const agenda: Agenda = { plays: [], audits: [], settles: [], lost: [] };
  for (const claim of history.claims.values()) {
    const job = history.jobs.get(claim.jobId);
    if (job === undefined) continue;
    const own = claim.games.filter(({ challenger }) => isAddressEqual(challenger, me));
    for (const game of own.filter(({ closed }) => closed === undefined)) {
      if (claim.refuted) agenda.settles.push({ kind: "settle", job, claim, game });
      else agenda.plays.push({ kind: "play", job, claim, game });
    }
    agenda.lost.push(...own.filter(isLost).map((game) => ({ claim, game })));
    const disputable = isOpen(claim) && now <= claim.windowEnd;
    // A game may have been lost by the clock, while this watcher or its node was down. That does not make the claim
    // right: it is judged again.
    if (disputable && own.every(isLost)) agenda.audits.push({ kind: "audit", job, claim, lost: own });
  }
  agenda.plays.sort((a, b) => endOfTime(a.game) - endOfTime(b.game));
  const isLate = ({ job, claim }: AuditTask): boolean => Number(now) + secondsFor(job) > Number(claim.windowEnd);
  agenda.audits.sort(
    (a, b) =>
      Number(isLate(a)) - Number(isLate(b)) ||
      Number(a.claim.windowEnd - b.claim.windowEnd) ||
      Number(b.job.job.fee - a.job.job.fee),
  );
  return agenda;
}

/** When the watcher's clock in a game runs out, unix seconds; never while it is the worker's turn. */
function endOfTime({ moves }: GameRecord): number {
  const state = moves.at(-1)?.state;
  return state?.turn === Side.challenger ? state.since + state.challengerSeconds : Number.MAX_SAFE_INTEGER;
}
