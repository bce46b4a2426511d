import { Level, Move, Outcome, Side } from "../../src/chain/structs.ts";
import type { GameRecord, MoveRecord } from "../../src/chain/market/history.ts";
import { counted, grouped } from "../format.ts";
import { LEAVES, rangeOf, rangeText } from "./descent.ts";

/** A line of the list of moves. */
export type MoveView = { name: string; by: "worker" | "challenger" | "chain"; text: string; transactionHash: string };

const NAMES = { [Move.open]: "open", [Move.reveal]: "reveal", [Move.pick]: "pick", [Move.expand]: "expand" };

/** A game's transactions, in order, in words. */
export function movesOf(game: GameRecord): MoveView[] {
  const views = game.moves.map(viewOf);
  const { closed, proved } = game;
  if (closed === undefined) return views;
  const { transactionHash } = closed;
  if (proved !== undefined) {
    const text = `the chain recomputes number ${grouped(proved.element)} of step ${grouped(proved.step)}`;
    return [...views, { name: "prove", by: "challenger", text, transactionHash }];
  }
  return [...views, { name: "end", by: "chain", text: ENDS[closed.outcome], transactionHash }];
}

const ENDS: Record<Outcome, string> = {
  [Outcome.workerWon]: "the challenger has lost: it gave up, or its time was over",
  [Outcome.challengerWon]: "the worker has lost: it gave up, or its time was over",
  [Outcome.settled]: "the claim died in another game",
};

function viewOf({ move, state, data, transactionHash }: MoveRecord): MoveView {
  const by = move === Move.open || move === Move.pick ? "challenger" : "worker";
  return { name: NAMES[move], by, text: textOf(move, state, data), transactionHash };
}

function textOf(move: Move, state: MoveRecord["state"], data: string): string {
  const leaves = LEAVES[state.level];
  if (move === Move.reveal) {
    const nodes = counted((data.length - 2) / 64, "node");
    return state.depth === 0 ? "shows the chunk itself, 512 bytes" : `shows ${nodes} of the ${leaves}`;
  }
  if (move === Move.expand)
    return state.level === Level.interior
      ? `commits to the tensors of ${stepsText(state)}`
      : `commits to ${leavesText(state.width, leaves)}`;
  const range = rangeOf(state);
  if (state.level === Level.tensor && range.from === 0 && range.to === state.width)
    return `disputes the tensor of step ${grouped(state.step)}, ${leavesText(state.width, leaves)}`;
  return `disputes ${leaves}, ${rangeText(range)} of ${grouped(state.width)}`;
}

/** Leaves with their number: 1 chunk, 3 items of the output. */
const leavesText = (count: number, leaves: string): string =>
  `${grouped(count)} ${count === 1 ? leaves.replace(/s\b/, "") : leaves}`;

const stepsText = ({ first, last }: MoveRecord["state"]): string =>
  first === last ? `step ${grouped(first)}` : `steps ${grouped(first)} to ${grouped(last)}`;

/** Seconds that each side has left, and who is to move. Of a game that is over nobody is. */
export function clocksOf(game: GameRecord, now: bigint): { worker: number; challenger: number; turn?: Side } {
  const { workerSeconds, challengerSeconds, since, turn } = game.moves.at(-1)!.state;
  if (game.closed !== undefined) return { worker: workerSeconds, challenger: challengerSeconds };
  const passed = Math.max(0, Number(now) - since);
  return {
    worker: workerSeconds - (turn === Side.worker ? passed : 0),
    challenger: challengerSeconds - (turn === Side.challenger ? passed : 0),
    turn,
  };
}
