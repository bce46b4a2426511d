import { Level, Move, Side } from "../chain/structs.ts";
import type { MoveRecord } from "../chain/market/history.ts";
import { hopOf } from "../chain/market/revealLevels.ts";
import { depthOf } from "../program/merkle/sizes.ts";

/**
 * Whether a list of a game's moves, oldest first, has none missing before its last one. A node that lags may give a
 * later move and not an earlier one, until it is asked again. What an earlier reveal showed is then not known, and all
 * of it would look like one's own.
 *
 * A single missing move breaks the order of turns. Two of them change the place in a list by more than a move does.
 * The challenger's picks are taken to go exactly to what was revealed, as `challengerMove` makes them.
 */
export function isWholeGame(moves: readonly MoveRecord[], arityBits: number): boolean {
  return moves.every((move, k) => (k === 0 ? move.move === Move.open : follows(moves[k - 1]!, move, arityBits)));
}

function follows({ state: before }: MoveRecord, { move, state: after }: MoveRecord, arityBits: number): boolean {
  const isWorkers = move === Move.reveal || move === Move.expand;
  if (move === Move.open || isWorkers !== (before.turn === Side.worker)) return false;
  const isSameList = after.level === before.level;
  // A list is entered at its root.
  const isEntered = !isSameList && after.depth === depthOf(after.width);
  if (move === Move.expand) return before.depth === 0 && isEntered;
  const hop = move === Move.reveal ? 0 : hopOf(before.depth, arityBits);
  if (isSameList) return after.depth === before.depth - hop && after.index >>> hop === before.index;
  // A range of more than one step is expanded before a game enters one of its tensors.
  const isSkipped = after.level === Level.tensor && before.level !== Level.interior && after.first !== after.last;
  return before.depth === hop && isEntered && !isSkipped;
}
