import type { Address, Hex } from "viem";
import type { Session } from "../../../chain/market/session.ts";
import type { Panel } from "../../../chain/clients/panel.ts";
import { followPanel } from "../../../parties/requester/followPanel.ts";
import { drawAudit } from "../../../parties/requester/panel.ts";
import type { PanelMove } from "../../../parties/requester/panelMoves.ts";
import type { PanelState, SeatState } from "../../../parties/requester/panelState.ts";
import { amountText, timeText } from "../../amount.ts";
import { InterruptedError, NegativeVerdict } from "../../errors.ts";
import type { Output } from "../../output.ts";
import { address, share, unfit, type Parse } from "../../parse.ts";
import { optional, required, toggle, type SettingValues } from "../../settings.ts";
import { untilStopped } from "../../stop.ts";
import { logOutage } from "../../waiting.ts";

/** A part of a whole: percent, or a number from 0 to 1. */
const part: Parse<number> = (text, name) => {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? [];
  if (percent === undefined) return share(text, name);
  if (Number(percent) <= 100) return Number(percent) / 100;
  throw unfit(text, name, "a part such as 10% or 0.1");
};

/** As `part` takes it: without an exponent. */
const partText = (value: number): string => `${Number((value * 100).toFixed(6))}%`;

/** The setting that names the panels' contract. */
export const panelSetting = {
  panel: required<Address>("address", "the contract of the panels, beside the market", address),
};

/** The settings for following a panel. */
export const followSettings = {
  audit: optional<number>(
    "part",
    "chance, such as 10%, that a seat is added in private once the others are sealed",
    part,
    "none is added",
  ),
  agreed: toggle("take the result as soon as all seats agree; else wait until nobody can dispute them any more"),
};

/**
 * Follows a panel until the end, and answers with the outcome. Ctrl-C ends the wait; the error names the command that
 * resumes the wait.
 * @throws InterruptedError, NegativeVerdict if the panel has no result, and as `followPanel`
 */
export async function followOnTerminal(
  output: Output,
  session: Session,
  panel: Panel,
  panelId: Hex,
  { audit, agreed, isPosted }: SettingValues<typeof followSettings> & { isPosted: boolean },
): Promise<void> {
  const onStop = (): void => output.note("stops waiting; once more to stop at once");
  // Drawn once, here: no worker can know, and no other process needs to.
  const addsSeat = audit !== undefined && drawAudit(audit);
  const state = await untilStopped(onStop, async (signal) => {
    try {
      return await followPanel(session, panel, panelId, {
        ...{ signal, addsSeat, untilAgreed: agreed, isPosted },
        onOutage: logOutage(output),
        onState: (now) => output.note(stateLines(now)),
        onSeatMissed: () =>
          output.note("the draw said to add a seat, but the time for that is over, or the panel has none to add"),
        onMove: (move) => output.note(moveText(move)),
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      const given = (audit === undefined ? "" : ` --audit ${partText(audit)}`) + (agreed ? " --agreed" : "");
      const resume = `refute panel result ${panelId} --panel ${panel.address} --wait${given}`;
      throw new InterruptedError(`stopped before the panel has ended; it goes on. To wait again: ${resume}`, {
        cause: error,
      });
    }
  });
  answerPanel(output, state);
  if (state.outcome === "agreed")
    output.note(
      "fees of seats that are refuted, or not added, come back to the poster once all windows are over: " +
        `refute panel result ${panelId} --panel ${panel.address} --wait`,
    );
  if (state.outcome === "split" || state.outcome === "failed")
    throw new NegativeVerdict(`panel ${panelId}: ${WORDS[state.outcome]}`);
}

/** Answers with how far a panel is. */
export const answerPanel = (output: Output, state: PanelState): void =>
  output.answer({ panel: state.panelId, ...state, panelId: undefined }, [
    `panel ${state.panelId}`,
    ...stateLines(state),
  ]);

const WORDS: Record<PanelState["outcome"], string> = {
  none: "no such panel",
  open: "seats are being taken, sealed and opened",
  agreed: "agreed: all seats gave the same result, which can still be disputed",
  survived: "survived: all claims that are final are of this result",
  split: "split: claims of different results became final, so that there is none",
  failed: "failed: no claim became final; the fees are the poster's",
};

function stateLines({ outcome, root, finals, seats, deadline, openFrom, auditUntil }: PanelState): string[] {
  const ended = outcome === "survived" || outcome === "split" ? `, ${finals} of ${seats.length} seats final` : "";
  const audit = auditUntil === undefined ? "" : `, of an added seat by ${timeText(BigInt(auditUntil))}`;
  return [
    `${WORDS[outcome]}${ended}`,
    ...(root === undefined ? [] : [`root ${root}`]),
    ...seats.map((seat, k) => `seat ${k + 1}: ${seatText(seat)}, job ${seat.jobId}`),
    ...(outcome === "open"
      ? [`sealed by ${timeText(deadline)}${audit}; opened from ${timeText(BigInt(openFrom))}`]
      : []),
  ];
}

function seatText({ phase, worker, root, windowEnd }: SeatState): string {
  const by = worker === undefined ? "" : ` by ${worker}`;
  if (phase === "submitted") return `opened${by} with root ${root}; may be disputed until ${timeText(windowEnd!)}`;
  return `${phase}${by}${root === undefined ? "" : ` with root ${root}`}`;
}

function moveText(move: PanelMove | { kind: "withdraw"; amount: bigint }): string {
  switch (move.kind) {
    case "addSeat":
      return "a seat was added: the draw said so";
    case "agree":
      return "all seats agree: noted on chain";
    case "resolve":
      return "all seats are over: noted on chain";
    case "expire":
      return `seat ${move.seat + 1}: its worker is late, and loses the penalty`;
    case "breakSeal":
      return `seat ${move.seat + 1}: its seal was not opened, and the whole collateral is lost`;
    case "finalise":
      return `seat ${move.seat + 1}: its window is over, and its claim final`;
    case "withdraw":
      return `took out ${amountText(move.amount)} of fees`;
  }
}
