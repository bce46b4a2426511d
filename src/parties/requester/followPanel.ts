import type { Hex } from "viem";
import { isAddressEqual } from "viem";
import type { Panel } from "../../chain/clients/panel.ts";
import { ContractRevertError, TransactionDroppedError, TransactionRevertedError } from "../../chain/errors.ts";
import { pause } from "../../chain/pause.ts";
import { followMarket, type Session } from "../../chain/market/session.ts";
import { PanelUnknownError } from "./errors.ts";
import { throughOutages, type OutageOptions } from "./outages.ts";
import { isTooLateToAdd, makePanelMove, nextMove, type PanelMove } from "./panelMoves.ts";
import { knownPanel, stateOfPanel, type KnownPanel, type PanelState } from "./panelState.ts";

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
  /** Called when something has changed. */
  onState?: (state: PanelState) => void;
  /** Called with each move that was made, and with what the poster took out at the end. */
  onMove?: (move: PanelMove | { kind: "withdraw"; amount: bigint }) => void;
};

/** Rounds in a row in which the same move may be refused: others make it too, and a node may lag. */
const MAX_REFUSALS = 5;

/**
 * Brings a panel to an end: adds the drawn seat, notes agreement of all seats, ends late seats, resolves, and withdraws
 * the amount owed to the poster. All state comes from the chain: the poster or anybody else can call the function again
 * at any time. While no node answers, the function keeps waiting.
 * @returns the panel's outcome, or that all seats agree if `untilAgreed` is set
 * @throws PanelUnknownError, the error of a repeatedly refused move, or the signal's reason
 */
export async function followPanel(
  session: Session,
  contract: Panel,
  panelId: Hex,
  options: FollowPanelOptions = {},
): Promise<PanelState> {
  const { signal, addsSeat = false, untilAgreed = false, isPosted = false, onState, onSeatMissed, onMove } = options;
  const { intervalMs = 4_000 } = options;
  const follow = followMarket(session);
  const { baseClock } = session.deployment.parameters;
  const me = session.sender.address;
  let last = "";
  let isMissed = false;
  let [refused, refusals] = ["", 0];
  for (;;) {
    signal?.throwIfAborted();
    const read = await throughOutages(
      async () => {
        const snapshot = await follow();
        return { now: snapshot.now, panel: await knownOrPosted(session, contract, snapshot, panelId, isPosted) };
      },
      { ...options, intervalMs },
    );
    if (read.panel !== undefined) {
      const { panel, now } = read;
      const state = stateOfPanel(panel);
      const text = JSON.stringify(state, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
      if (text !== last) onState?.(state);
      last = text;
      if (addsSeat && !isMissed && isTooLateToAdd(panel, now)) {
        isMissed = true;
        onSeatMissed?.();
      }
      const move = nextMove(panel, now, { me, addsSeat, baseClock });
      if (move !== undefined) {
        const error = await tried(() => makePanelMove(session, contract, panel, move));
        if (error === undefined) onMove?.(move);
        const what = error === undefined ? "" : `${move.kind} ${error.message}`;
        [refused, refusals] = [what, what === refused && what !== "" ? refusals + 1 : 0];
        if (error !== undefined && refusals >= MAX_REFUSALS) throw error;
        if (error === undefined) continue;
      } else if (isEnded(state) || (untilAgreed && state.outcome === "agreed")) {
        await takeOut(session, contract, state, onMove);
        return state;
      }
    }
    await pause(intervalMs, signal);
  }
}

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
    const mayPass = [ContractRevertError, TransactionRevertedError, TransactionDroppedError];
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
