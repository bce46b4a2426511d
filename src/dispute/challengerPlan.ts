import type { Execution } from "../player/execution.ts";
import { overtime } from "../market/clock.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../market/history.ts";
import { Side } from "../chain/structs.ts";
import { publishedTensor, type TensorSource } from "../trace/published.ts";
import { challengerMove, type ChallengerMove } from "./challengerMove.ts";
import { publishedProof, tensorAhead } from "./shortcut.ts";

/** What to do next in a game: the move, and the proof from a published tensor that may spare it. */
export type PlannedMove = { move: ChallengerMove; shortcut?: ChallengerMove & { kind: "prove" } };

/** The move that needs no execution, while it is the worker's turn. */
export function idleChallengerMove(game: GameRecord, now: bigint): ChallengerMove | undefined {
  const state = stateOf(game);
  if (state.turn !== Side.worker) return undefined;
  return overtime(state, now) > 0 ? { kind: "timeout" } : { kind: "wait" };
}

/**
 * Plans the next move of a game. A proof from the worker's published trace need not wait for a turn.
 * @param tensors Where the worker's tensors may be had from.
 */
export async function planChallengerMove(
  claim: ClaimRecord,
  game: GameRecord,
  execution: Execution,
  { arityBits, now, tensors }: { arityBits: number; now: bigint; tensors?: TensorSource | undefined },
): Promise<PlannedMove> {
  const move = challengerMove(execution, claim.nodes, game.moves, arityBits, now);
  const ahead = tensors && tensorAhead(execution, game.moves, move);
  if (ahead === undefined) return { move };
  const tensor = await publishedTensor(tensors!, claim.id, ahead.step, ahead.bytes, ahead.committed);
  const shortcut = tensor && publishedProof(execution, claim.nodes, game.moves, move, ahead, tensor);
  return shortcut === undefined ? { move } : { move, shortcut };
}
