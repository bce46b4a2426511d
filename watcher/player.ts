import type { TransactionReceipt } from "viem";
import { ContractRevertError } from "../src/chain/errors.ts";
import type { Execution } from "../src/chain/game/execution.ts";
import { overtime } from "../src/chain/game/hop.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../src/chain/history.ts";
import { Side } from "../src/chain/types.ts";
import { publishedTensor, type TensorSource } from "../src/trace/published.ts";
import { VerifierDisagreesError, type Responder } from "./responder.ts";
import { publishedProof, tensorAhead } from "./shortcut.ts";
import { challengerMove, type ChallengerMove } from "./strategy.ts";

/** A move that was sent. */
export type Played = { move: ChallengerMove["kind"]; receipt: TransactionReceipt };

/** What to do next in a game: the move, and the proof from a published tensor that may spare it. */
export type Plan = { move: ChallengerMove; short?: ChallengerMove & { kind: "prove" } };

/** The move that needs no execution, while it is the worker's turn. */
export function idleMove(game: GameRecord, now: bigint): ChallengerMove | undefined {
  const state = stateOf(game);
  if (state.turn !== Side.worker) return undefined;
  return overtime(state, now) > 0 ? { kind: "timeout" } : { kind: "wait" };
}

/**
 * Plans the next move of a game. A proof from the worker's published trace need not wait for a turn.
 * @param tensors Where the worker's tensors may be had from.
 */
export async function plan(
  claim: ClaimRecord,
  game: GameRecord,
  execution: Execution,
  { arityBits, now, tensors }: { arityBits: number; now: bigint; tensors?: TensorSource | undefined },
): Promise<Plan> {
  const move = challengerMove(execution, claim.nodes, game.moves, arityBits, now);
  const ahead = tensors && tensorAhead(execution, game.moves, move);
  if (ahead === undefined) return { move };
  const tensor = await publishedTensor(tensors!, claim.id, ahead.step, ahead.bytes, ahead.committed);
  const short = tensor && publishedProof(execution, claim.nodes, game.moves, move, ahead, tensor);
  return short === undefined ? { move } : { move, short };
}

/**
 * Makes a planned move.
 * @param onDisagreement Called when the chain's verifier refutes the watcher itself; the game is then conceded.
 * @returns undefined if there was none to make
 */
export async function carryOut(
  responder: Responder,
  claim: ClaimRecord,
  game: GameRecord,
  { move, short }: Plan,
  onDisagreement: (error: Error) => void,
): Promise<Played | undefined> {
  const ended = short && (await tryShort(responder, claim, game, short));
  if (ended !== undefined) return ended;
  if (move.kind === "wait") return undefined;
  try {
    return { move: move.kind, receipt: await responder.move(claim, game, move) };
  } catch (error) {
    if (!(error instanceof VerifierDisagreesError)) throw error;
    onDisagreement(error);
    const concession = { kind: "concede", reason: error.message } as const;
    return { move: "concede", receipt: await responder.move(claim, game, concession) };
  }
}

/** Ends a game with a proof from the worker's published tensor. Whatever is wrong with what is published, the game goes on without it: nothing is conceded here. */
async function tryShort(
  responder: Responder,
  claim: ClaimRecord,
  game: GameRecord,
  proof: ChallengerMove & { kind: "prove" },
): Promise<Played | undefined> {
  try {
    return { move: "prove", receipt: await responder.move(claim, game, proof) };
  } catch (error) {
    if (error instanceof VerifierDisagreesError || error instanceof ContractRevertError) return undefined;
    throw error;
  }
}
