import { encodeAbiParameters, keccak256, type Address, type Hex } from "viem";
import type { PanelReader, PanelRecord } from "../../chain/clients/panel.ts";
import { PanelOutcome, type Job } from "../../chain/structs.ts";
import type { ClaimRecord, History, JobRecord } from "../../chain/market/history.ts";
import { jobIdOf } from "../../chain/market/ids.ts";
import { followMarket, type Snapshot } from "../../chain/market/session.ts";
import { PanelUnknownError } from "./errors.ts";
import type { Reader } from "../../chain/market/reader.ts";

/** How far a seat is. */
type SeatPhase = "open" | "claimed" | "sealed" | "submitted" | "refuted" | "final" | "closed";

/** A seat of a panel. */
export type SeatState = {
  jobId: Hex;
  phase: SeatPhase;
  /** Who has claimed it last. */
  worker?: Address;
  /** The latest claim: root, and end of the window (unix seconds). */
  root?: Hex;
  windowEnd?: bigint;
};

/** How far a panel is. Times are unix seconds. */
export type PanelState = {
  panelId: Hex;
  poster: Address;
  outcome: keyof typeof PanelOutcome;
  /** Root of the result, if any. */
  root?: Hex;
  /** Seats whose claims are final: a result that survived rests on so many. */
  finals: number;
  seats: SeatState[];
  /** By when seals are there, from when on they are opened, and by when an added seat is sealed, if one may be. */
  deadline: bigint;
  openFrom: number;
  auditUntil?: number;
};

/** A panel with the records of all seats, in the form for moves. */
export type KnownPanel = { panelId: Hex; record: PanelRecord; seats: readonly JobRecord[] };

/** The job of a seat. All follow from the first one's (contracts/extras/panel/Panel.sol). @param seat From 0. */
function seatJob(first: Job, panelId: Hex, seat: number, { seats, added, auditUntil }: PanelRecord): Job {
  if (seat === 0) return first;
  const salt = keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }], [panelId, BigInt(seat)]));
  const isAdded = added && seat === seats - 1;
  return { ...first, salt, rootOnly: true, ...(isAdded && { deadline: BigInt(auditUntil) }) };
}

/**
 * Finds a panel in a market's history.
 * @throws PanelUnknownError if the history lacks the panel or a part of the panel
 */
export async function knownPanel(
  { deployment: { chainId, market }, fromBlock }: Reader,
  panel: PanelReader,
  { history, blockNumber }: Pick<Snapshot, "history" | "blockNumber">,
  panelId: Hex,
): Promise<KnownPanel> {
  const record = await panel.panelOf(panelId, blockNumber);
  const first = history.jobs.get(panelId);
  if (record.outcome === PanelOutcome.none || first === undefined)
    throw new PanelUnknownError(
      `no panel ${panelId} at ${panel.address} since block ${fromBlock}: check the id, or name an earlier block ` +
        "(fromBlock; --from-block on the command line)",
    );
  const ids = Array.from({ length: record.seats }, (_, k) =>
    jobIdOf(seatJob(first.job, panelId, k, record), chainId, market),
  );
  return { panelId, record, seats: ids.map((id) => requireSeat(history, id)) };
}

/** Reads how far a panel is. @throws PanelUnknownError */
export async function panelState(reader: Reader, panel: PanelReader, panelId: Hex): Promise<PanelState> {
  return stateOfPanel(await knownPanel(reader, panel, await followMarket(reader)(), panelId));
}

/**
 * Returns the reported state of a panel. An agreement ends when a claim is refuted (`requireOutput` of the contract):
 * the panel is open then, also if the contract has the agreement on record.
 */
export function stateOfPanel({ panelId, record, seats }: KnownPanel): PanelState {
  const { poster, root, auditUntil } = record;
  const isRefuted = seats.some((seat) => lastClaim(seat)?.refuted === true);
  const outcome = record.outcome === PanelOutcome.agreed && isRefuted ? PanelOutcome.open : record.outcome;
  const [first] = seats;
  const isKnown = outcome === PanelOutcome.agreed || outcome === PanelOutcome.survived;
  return {
    panelId,
    poster,
    outcome: (Object.keys(PanelOutcome) as (keyof typeof PanelOutcome)[])[outcome]!,
    ...(isKnown && { root }),
    finals: seats.filter((seat) => lastClaim(seat)?.finalised === true).length,
    seats: seats.map(seatState),
    deadline: first!.job.deadline,
    openFrom: first!.terms!.openFrom,
    ...(auditUntil !== 0 && { auditUntil }),
  };
}

/** The latest claim on a seat. */
export const lastClaim = ({ claims }: JobRecord): ClaimRecord | undefined => claims.at(-1);

function seatState(job: JobRecord): SeatState {
  const claim = lastClaim(job);
  const worker = job.holder?.worker ?? job.sealed?.worker ?? job.broken ?? claim?.claim.worker;
  return {
    jobId: job.id,
    phase: phaseOf(job, claim),
    ...(worker !== undefined && { worker }),
    ...(claim !== undefined && { root: claim.claim.root, windowEnd: claim.windowEnd }),
  };
}

function phaseOf({ closed, holder, sealed, open }: JobRecord, claim: ClaimRecord | undefined): SeatPhase {
  if (claim?.refuted === true) return "refuted";
  if (closed) return "closed";
  if (holder !== undefined) return "claimed";
  if (sealed !== undefined) return "sealed";
  if (claim !== undefined) return claim.finalised ? "final" : "submitted";
  return open ? "open" : "closed";
}

/** @throws PanelUnknownError that may pass, if the node's logs lag behind */
function requireSeat({ jobs }: History, id: Hex): JobRecord {
  const job = jobs.get(id);
  if (job === undefined)
    throw new PanelUnknownError(`seat ${id} of the panel is not among the logs yet: a node may lag; try again`);
  return job;
}
