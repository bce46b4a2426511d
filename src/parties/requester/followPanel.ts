import { isAddressEqual, type Address, type Hex } from "viem";
import type { Panel } from "../../chain/clients/panel.ts";
import {
  ContractRevertError,
  NonceTakenError,
  TransactionDroppedError,
  TransactionRevertedError,
} from "../../chain/errors.ts";
import { pause } from "../../chain/pause.ts";
import type { ClaimRecord } from "../../chain/market/history.ts";
import { followMarket, type Session } from "../../chain/market/session.ts";
import { PanelUnknownError } from "./errors.ts";
import { throughOutages, type OutageOptions } from "./outages.ts";
import { claimsAtOdds, isTooLateToAdd, makePanelMove, nextMove, type PanelMove } from "./panelMoves.ts";
import { knownPanel, stateOfPanel, type KnownPanel, type PanelState } from "./panelState.ts";
import type { SeatJudge, SeatVerdict } from "./seatJudge.ts";

/** How a panel is followed. */
export type FollowPanelOptions = Partial<OutageOptions> & {
  /** Whether a seat is added when the others are sealed: `drawAudit`. It is not if this is left out. */
  addsSeat?: boolean;
  /** True to end once all seats agree; otherwise the function ends when all windows are over. */
  untilAgreed?: boolean;
  /** The panel was posted: a node that does not know it lags. */
  isPosted?: boolean;
  /** Called once if `addsSeat` and the time to add a seat is over, or the panel was posted without one to add. */
  onSeatMissed?: () => void;
  /** Judges and disputes claims on the seats that are at odds; without a judge, nobody does here. */
  judge?: Pick<SeatJudge, "tend" | "end">;
  /** Called with everything new about claims that are at odds. All of it concerns money: show it. */
  onOdds?: (odds: SeatOdds) => void;
  /** Called when something has changed. */
  onState?: (state: PanelState) => void;
  /** Called with each move that was made, and with what the poster took out at the end. */
  onMove?: (move: PanelMove | { kind: "withdraw"; amount: bigint }) => void;
};

/** Claims on a panel's seats that cannot all be right. */
export type SeatOdds = {
  /** All claims, with their seats from 0. */
  claims: readonly { seat: number; claimId: Hex; root: Hex; refuted: boolean }[];
  /** The root by an execution here; undefined until there is one. */
  right?: Hex;
  /** Claims that nobody disputes from here, and why. */
  undisputed: readonly { claim: Hex; why: string }[];
};

/** Rounds in a row in which the same move may be refused: others make it too, and a node may lag. */
const MAX_REFUSALS = 5;

/**
 * Brings a panel to an end: adds the drawn seat, notes agreement of all seats, ends late seats, resolves, and withdraws
 * the amount owed to the poster. If claims on seats are at odds, the judge executes the question and disputes the wrong
 * claims. A claim at odds with another is finalised only if the judge has found the claim right. All state comes from
 * the chain: the poster or anybody else can call the function again at any time. While no node answers, or the signer
 * is away, the function keeps waiting.
 * @returns the panel's outcome, or that all seats agree if `untilAgreed` is set
 * @throws PanelUnknownError, the error of a repeatedly refused move, or the signal's reason
 */
export async function followPanel(
  session: Session,
  contract: Panel,
  panelId: Hex,
  options: FollowPanelOptions = {},
): Promise<PanelState> {
  try {
    return await followToEnd(session, contract, panelId, options);
  } finally {
    await options.judge?.end();
  }
}

async function followToEnd(
  session: Session,
  contract: Panel,
  panelId: Hex,
  options: FollowPanelOptions,
): Promise<PanelState> {
  const { signal, addsSeat = false, untilAgreed = false, isPosted = false } = options;
  const { intervalMs = 4_000, judge, onState, onOdds, onSeatMissed, onMove } = options;
  const follow = followMarket(session);
  const { baseClock } = session.deployment.parameters;
  const me = session.sender.address;
  let last = "";
  let isMissed = false;
  let [refused, refusals] = ["", 0];
  let lastOdds = "";
  /** Begins with the chain, so that a round cut off by an outage can be run again at any point. */
  const round = async (): Promise<PanelState | "moved" | "waits"> => {
    const snapshot = await follow();
    const { now } = snapshot;
    const panel = await knownOrPosted(session, contract, snapshot, panelId, isPosted);
    if (panel === undefined) return "waits";
    const state = stateOfPanel(panel);
    const text = JSON.stringify(state, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    if (text !== last) onState?.(state);
    last = text;
    if (addsSeat && !isMissed && isTooLateToAdd(panel, now)) {
      isMissed = true;
      onSeatMissed?.();
    }
    const atOdds = claimsAtOdds(panel.seats);
    const verdict =
      atOdds.length === 0 ? undefined : ((await judge?.tend(atOdds, now, panel.seats)) ?? unjudged(atOdds));
    if (verdict !== undefined) {
      const odds = oddsOf(panel, verdict);
      const oddsText = JSON.stringify(odds);
      if (oddsText !== lastOdds) onOdds?.(odds);
      lastOdds = oddsText;
    }
    const move = nextMove(panel, now, { me, addsSeat, baseClock, right: verdict?.right });
    if (move !== undefined) {
      const error = await tried(() => makePanelMove(session, contract, panel, move));
      if (error === undefined) onMove?.(move);
      const what = error === undefined ? "" : `${move.kind} ${error.message}`;
      [refused, refusals] = [what, what === refused && what !== "" ? refusals + 1 : 0];
      if (error !== undefined && refusals >= MAX_REFUSALS) throw error;
      return error === undefined ? "moved" : "waits";
    }
    const isOver = isEnded(state) && !(judge && plays(atOdds, me));
    if (!isOver && !(untilAgreed && state.outcome === "agreed")) return "waits";
    await takeOut(session, contract, state, onMove);
    return state;
  };
  for (;;) {
    const outcome = await throughOutages(round, { ...options, intervalMs });
    if (typeof outcome === "object") return outcome;
    if (outcome === "waits") await pause(intervalMs, signal);
  }
}

/** Whether an account has open games on claims: their bonds come back. */
const plays = (claims: readonly ClaimRecord[], me: Address): boolean =>
  claims.some(({ games }) => games.some(({ closed, challenger }) => !closed && isAddressEqual(challenger, me)));

/** What is known about claims without a judge. */
const unjudged = (claims: readonly ClaimRecord[]): SeatVerdict => ({
  right: undefined,
  undisputed: claims
    .filter(({ refuted, finalised }) => !refuted && !finalised)
    .map(({ id }) => ({ claim: id, why: "nobody executes the question here" })),
});

const oddsOf = ({ seats }: KnownPanel, { right, undisputed }: SeatVerdict): SeatOdds => ({
  claims: seats.flatMap(({ claims }, seat) =>
    claims.map(({ id, claim, refuted }) => ({ seat, claimId: id, root: claim.root, refuted })),
  ),
  ...(right !== undefined && { right }),
  undisputed,
});

const isEnded = ({ outcome }: PanelState): boolean =>
  outcome === "survived" || outcome === "split" || outcome === "failed";

/**
 * Returns the panel's state.
 * @returns undefined for a posted panel that the node does not know yet
 */
async function knownOrPosted(
  session: Session,
  contract: Panel,
  snapshot: Parameters<typeof knownPanel>[2],
  panelId: Hex,
  isPosted: boolean,
): Promise<KnownPanel | undefined> {
  try {
    return await knownPanel(session, contract, snapshot, panelId);
  } catch (error) {
    if (isPosted && error instanceof PanelUnknownError) return undefined;
    throw error;
  }
}

/** Makes a move that other accounts may make first. @returns the reason if the move had no effect */
async function tried(move: () => Promise<void>): Promise<Error | undefined> {
  try {
    await move();
    return undefined;
  } catch (error) {
    const mayPass = [ContractRevertError, TransactionRevertedError, TransactionDroppedError, NonceTakenError];
    if (mayPass.some((type) => error instanceof type)) return error as Error;
    throw error;
  }
}

/** Withdraws the amount owed to the poster after the panel's end. */
async function takeOut(
  { sender }: Session,
  contract: Panel,
  { poster }: PanelState,
  onMove: FollowPanelOptions["onMove"],
): Promise<void> {
  if (!isAddressEqual(poster, sender.address)) return;
  const amount = await contract.owed(poster);
  if (amount === 0n) return;
  await contract.withdraw();
  onMove?.({ kind: "withdraw", amount });
}
