import type { Address, Hex } from "viem";
import type { Session } from "../../../chain/market/session.ts";
import type { Panel } from "../../../chain/clients/panel.ts";
import { followPanel, type SeatOdds } from "../../../parties/requester/followPanel.ts";
import { drawAudit } from "../../../parties/requester/panel.ts";
import type { PanelMove } from "../../../parties/requester/panelMoves.ts";
import type { PanelState, SeatState } from "../../../parties/requester/panelState.ts";
import { SeatJudge } from "../../../parties/requester/seatJudge.ts";
import { createLogger } from "../../../base/log.ts";
import type { HeldInputs } from "../../../runs/executions.ts";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { ProgramLibrary } from "../../../runs/programLibrary.ts";
import type { KnownProgram } from "../../../dispute/run/execution.ts";
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

/** What judges the seats of a panel: the programs that were compiled here, and inputs that are not on the chain. */
type Judging = { programs: readonly KnownProgram[]; heldInputs?: HeldInputs };

/**
 * Follows a panel until the end, and answers with the outcome. Ctrl-C ends the wait; the error names the command that
 * resumes the wait.
 * @param judging Absent if no model is at hand: seats that differ are then not judged.
 * @throws InterruptedError, NegativeVerdict if the panel has no result, and as `followPanel`
 */
export async function followOnTerminal(
  output: Output,
  session: Session,
  panel: Panel,
  panelId: Hex,
  { audit, agreed, isPosted }: SettingValues<typeof followSettings> & { isPosted: boolean },
  judging?: Judging,
): Promise<void> {
  const executors = new FastExecutors();
  const judge =
    judging &&
    new SeatJudge({
      ...{ session, execute: executors.execute, intervalMs: JUDGE_MS, log: createLogger(judgeLevel(output)) },
      ...{ programs: ProgramLibrary.of(judging.programs), heldInputs: judging.heldInputs },
    });
  let isAtOdds = false;
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
        ...(judge && { judge }),
        onOdds: (odds) => {
          isAtOdds = true;
          for (const line of oddsLines(odds, panel.address, panelId)) output.warn(line);
        },
      });
    } catch (error) {
      if (!signal.aborted) throw error;
      const given = (audit === undefined ? "" : ` --audit ${partText(audit)}`) + (agreed ? " --agreed" : "");
      const resume = `refute panel result ${panelId} --panel ${panel.address} --wait${given}`;
      const open = isAtOdds && judge ? "; games that it has open go on, and the bond of a game left alone is lost" : "";
      throw new InterruptedError(`stopped before the panel has ended; it goes on${open}. To wait again: ${resume}`, {
        cause: error,
      });
    } finally {
      await executors.close();
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

/** Pause between rounds of games, milliseconds. */
const JUDGE_MS = 4_000;

const judgeLevel = ({ mode }: Output): string => (mode.quiet ? "error" : "info");

/** The message about claims contradicting each other on a panel. */
function oddsLines({ claims, right, undisputed }: SeatOdds, panel: Address, panelId: Hex): string[] {
  const nameOf = (id: Hex): string => `seat ${claims.find(({ claimId }) => claimId === id)!.seat + 1}, claim ${id}`;
  const all = claims.map((one) => `${nameOf(one.claimId)}${one.refuted ? ", refuted" : ""}, root ${one.root}`);
  const wrong = claims.flatMap(({ claimId, root, refuted }) =>
    right !== undefined && root !== right && !refuted ? [nameOf(claimId)] : [],
  );
  const left = undisputed.map(({ claim, why }) => `${nameOf(claim)} is not disputed from here: ${why}`);
  const help =
    "refute the wrong seats with the model, before their windows end: " +
    `refute panel result ${panelId} --panel ${panel} ` +
    "--wait --models models.json, or refute watcher --mode defend";
  return [
    `the seats' claims cannot all be right: ${all.join("; ")}`,
    ...(right === undefined
      ? ["none of these is made final from here until the question was executed here"]
      : [`executed here, the root is ${right}; wrong: ${wrong.join("; ") || "none is left"}`]),
    ...left,
    ...(right === undefined && left.length > 0 ? [help] : []),
  ];
}

/** Answers with how far a panel is. */
export const answerPanel = (output: Output, state: PanelState): void =>
  output.answer({ panel: state.panelId, ...state, panelId: undefined }, [
    `panel ${state.panelId}`,
    ...stateLines(state),
  ]);

const WORDS: Record<PanelState["outcome"], string> = {
  none: "no such panel",
  open: "no result yet: seats are being taken, sealed, opened or disputed",
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
      return `took out ${amountText(move.amount)} of the stake asset, as fees`;
  }
}
