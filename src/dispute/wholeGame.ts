import { Level, Move, Side } from "../chain/structs.ts";
import type { MoveRecord } from "../chain/market/history.ts";
import { hopOf } from "../chain/market/revealLevels.ts";
import { depthOf } from "../program/merkle/sizes.ts";

/**
 * Returns true if no move is missing from a game's moves, oldest first, before the last move. A lagging node may return
 * a later move without an earlier move, until asked again. The nodes shown by a missing reveal are unknown, and would
 * look like the challenger's own nodes.
 *
 * A single missing move breaks the order of turns. Two missing moves change the place in a list by more than one move
 * does. The function assumes that the challenger's picks go exactly to revealed nodes, like the picks of
 * `challengerMove`.
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
  // A range with more than one step is expanded before a game enters a tensor in the range.
  const isSkipped = after.level === Level.tensor && before.level !== Level.interior && after.first !== after.last;
  return before.depth === hop && isEntered && !isSkipped;
}
