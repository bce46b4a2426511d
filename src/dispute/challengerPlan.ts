import type { RunExecution } from "./run/runExecution.ts";
import { overtime } from "../chain/market/clock.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../chain/market/history.ts";
import { Side } from "../chain/structs.ts";
import { publishedTensor, type TensorSource } from "../program/trace/published.ts";
import { challengerMove, type ChallengerMove } from "./challengerMove.ts";
import { proofTransactionBytes } from "./proofSize.ts";
import { publishedProof, tensorAhead } from "./shortcut.ts";

/** The next action in a game: the move, and a proof from a published tensor that may replace the move. */
export type PlannedMove = { move: ChallengerMove; shortcut?: ChallengerMove & { kind: "prove" } };

/** Returns the challenger's move that needs no execution, during the worker's turn. */
export function idleChallengerMove(game: GameRecord, now: bigint): ChallengerMove | undefined {
  const state = stateOf(game);
  if (state.turn !== Side.worker) return undefined;
  return overtime(state, now) > 0 ? { kind: "timeout" } : { kind: "wait" };
}

/** The other inputs of a plan, besides the game. */
type PlanOptions = {
  /** log2 of the children in a reveal: the deployment's. */
  arityBits: number;
  /** The deployment's limit on a transaction's size, in bytes. */
  maxStepBytes: number;
  /** The chain's time, unix seconds. */
  now: bigint;
  /** Where the worker's tensors may be had from. */
  tensors?: TensorSource | undefined;
};

/**
 * Plans the next move of a game. A proof from the worker's published trace need not wait for a turn. Such a proof
 * carries more paths than a proof after all reveals, and is omitted if pools would not accept the transaction.
 */
export async function planChallengerMove(
  claim: ClaimRecord,
  game: GameRecord,
  execution: RunExecution,
  { arityBits, maxStepBytes, now, tensors }: PlanOptions,
): Promise<PlannedMove> {
  const move = challengerMove(execution, claim.nodes, game.moves, arityBits, now);
  const ahead = tensors && tensorAhead(execution, game.moves, move);
  if (ahead === undefined) return { move };
  const tensor = await publishedTensor(tensors!, { claimId: claim.id, ...ahead }, ahead.committed);
  const shortcut = tensor && publishedProof(execution, claim.nodes, game.moves, move, ahead, tensor);
  if (shortcut === undefined || proofTransactionBytes(shortcut.proof) > maxStepBytes) return { move };
  return { move, shortcut };
}
