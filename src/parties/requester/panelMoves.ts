import { isAddressEqual, zeroAddress, type Address, type Hex } from "viem";
import type { Panel } from "../../chain/clients/panel.ts";
import { PanelOutcome, ZERO_HASH, type ClaimKey, type JobRequest } from "../../chain/structs.ts";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { claimKeyOf } from "../../chain/market/ids.ts";
import type { Session } from "../../chain/market/session.ts";
import { toHex } from "../../program/merkle/hash.ts";
import { lastClaim, type KnownPanel } from "./panelState.ts";

/** A move that can advance a panel now. `seat` counts from 0. */
export type PanelMove =
  { kind: "addSeat" | "agree" | "resolve" } | { kind: "expire" | "breakSeal" | "finalise"; seat: number };

/** Facts that decide the moves. */
type MoveOptions = {
  me: Address;
  /** Whether this poster adds a seat: drawn in private. */
  addsSeat: boolean;
  /** The deployment's time for opening seals, seconds. */
  baseClock: number;
  /** The root by this process's own execution, if the question was executed here. */
  right?: Hex | undefined;
};

/** Workers finalise their own claims. So long after the window somebody else does, seconds. */
const GRACE_SECONDS = 120n;

/**
 * Returns the next move that advances a panel, if any. While claims on its seats are at odds, only claims of the root
 * `right` are finalised: once final, even a wrong claim frees the worker's collateral. The function is pure.
 * @param now Unix seconds.
 */
export function nextMove(panel: KnownPanel, now: bigint, options: MoveOptions): PanelMove | undefined {
  const { record, seats } = panel;
  const { outcome } = record;
  if (outcome !== PanelOutcome.open && outcome !== PanelOutcome.agreed) return undefined;
  if (options.addsSeat && canAddSeat(panel, now, options.me)) return { kind: "addSeat" };
  if (outcome === PanelOutcome.open && areAlike(seats)) return { kind: "agree" };
  if (seats.every((seat) => isSeatOver(seat, now))) return { kind: "resolve" };
  const isAtOdds = claimsAtOdds(seats).length > 0;
  for (const [seat, job] of seats.entries()) {
    const mayFinalise = !isAtOdds || lastClaim(job)?.claim.root === options.right;
    const kind = seatMove(job, now, options.baseClock, mayFinalise);
    if (kind !== undefined) return { kind, seat };
  }
  return undefined;
}

/** Makes a move. @throws as the client's calls */
export async function makePanelMove(
  session: Pick<Session, "market">,
  contract: Panel,
  { seats, record }: KnownPanel,
  move: PanelMove,
): Promise<void> {
  const { job: first } = seats[0]!;
  switch (move.kind) {
    case "addSeat":
      await contract.addSeat(first, addedSeat(seats[0]!, record.auditUntil));
      return;
    case "agree":
      await contract.agree(first, seats.map(keyOf));
      return;
    case "resolve":
      await contract.resolve(first, seats.map(keyOf));
      return;
    case "expire": {
      const { job, terms } = seats[move.seat]!;
      await session.market.expire(job, terms);
      return;
    }
    case "breakSeal": {
      const { job, terms, sealed } = seats[move.seat]!;
      await session.market.breakSeal(job, terms!, sealed!.worker, sealed!.seal);
      return;
    }
    case "finalise":
      await session.market.finalise(lastClaim(seats[move.seat]!)!.claim);
  }
}

/** Whether the poster can still add a seat that a worker has the time to take. */
function canAddSeat(panel: KnownPanel, now: bigint, me: Address): boolean {
  const { record, seats } = panel;
  const isMine = record.outcome === PanelOutcome.open && isAddressEqual(record.poster, me);
  const isTime = now > seats[0]!.job.deadline && !isTooLateToAdd(panel, now);
  // Nobody's answer would be checked by it.
  const isAnswered = seats.some(({ sealed }) => sealed !== undefined);
  return isMine && record.auditUntil !== 0 && !record.added && isTime && isAnswered;
}

/** Whether no worker has the time any more to take a seat that is added now. Not so if one was added. */
export const isTooLateToAdd = ({ record: { added, auditUntil }, seats }: KnownPanel, now: bigint): boolean =>
  !added && now + BigInt(seats[0]!.job.claimSeconds) >= BigInt(auditUntil);

/** Whether all seats are opened with one root. */
function areAlike(seats: readonly JobRecord[]): boolean {
  const roots = seats.map((seat) => {
    const claim = lastClaim(seat);
    return claim === undefined || claim.refuted ? undefined : claim.claim.root;
  });
  return roots[0] !== undefined && roots.every((root) => root === roots[0]);
}

/**
 * Returns all claims on a panel's seats if one of them must be wrong: their roots differ, or one was refuted. Otherwise
 * there are none.
 */
export function claimsAtOdds(seats: readonly Pick<JobRecord, "claims">[]): readonly ClaimRecord[] {
  const all = seats.flatMap(({ claims }) => claims);
  const isAtOdds = all.some(({ refuted }) => refuted) || new Set(all.map(({ claim }) => claim.root)).size > 1;
  return isAtOdds ? all : [];
}

/** Returns true if a seat can yield no result, or can be closed when the panel is resolved. */
function isSeatOver(seat: JobRecord, now: bigint): boolean {
  const { closed, open, job } = seat;
  if (closed || lastClaim(seat)?.finalised === true) return true;
  return open && now + BigInt(job.claimSeconds) > job.deadline;
}

function seatMove(
  seat: JobRecord,
  now: bigint,
  baseClock: number,
  mayFinalise: boolean,
): "expire" | "breakSeal" | "finalise" | undefined {
  const { holder, sealed, terms } = seat;
  if (holder !== undefined) return now > holder.until ? "expire" : undefined;
  if (sealed !== undefined) return now > BigInt(terms!.openFrom + baseClock) ? "breakSeal" : undefined;
  const claim = lastClaim(seat);
  if (claim === undefined || claim.refuted || claim.finalised) return undefined;
  const isQuiet = claim.games.every(({ closed }) => closed !== undefined);
  return mayFinalise && isQuiet && now > claim.windowEnd + GRACE_SECONDS ? "finalise" : undefined;
}

/** Returns the key of a seat's latest claim; for a seat without a claim, a key that no claim has. */
function keyOf(seat: JobRecord): ClaimKey {
  const claim = lastClaim(seat);
  if (claim === undefined) return { jobId: ZERO_HASH, worker: zeroAddress, root: ZERO_HASH, collateral: 0n };
  return claimKeyOf(seat.id, claim.claim);
}

/** Returns a request for a panel's seat, with the first job's terms: the contract takes the rest from the first job. */
function addedSeat({ job, terms, program, inputRoots }: JobRecord, auditUntil: number): JobRequest {
  const { items, firstItem, fee, window, claimSeconds, callbackGas, maxOutputBytes, answers } = job;
  return {
    ...{ items, firstItem, fee, window, claimSeconds, callbackGas, maxOutputBytes },
    program,
    inputRoots,
    inputs: [],
    deadline: BigInt(auditUntil),
    rootOnly: true,
    answer: answers > 0,
    salt: toHex(new Uint8Array(32)),
    terms: [terms!],
  };
}
