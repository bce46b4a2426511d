import type { TransactionReceipt } from "viem";
import { ContractRevertError } from "../src/chain/errors.ts";
import type { Execution } from "../src/chain/game/execution.ts";
import type { ClaimRecord, GameRecord } from "../src/chain/history.ts";
import { publishedTensor, type TensorSource } from "../src/trace/published.ts";
import { VerifierDisagreesError, type Responder } from "./responder.ts";
import { publishedProof, tensorAhead } from "./shortcut.ts";
import { challengerMove, type ChallengerMove } from "./strategy.ts";

/** A move that was sent. */
export type Played = { move: ChallengerMove["kind"]; receipt: TransactionReceipt };

/** How a game is played. */
export type Playing = {
  arityBits: number;
  now: bigint;
  /** Where the worker's tensors may be had from. */
  tensors?: TensorSource | undefined;
  /** Called when the chain's verifier refutes the watcher itself; the game is then conceded. */
  onDisagreement: (error: Error) => void;
};

/** Plays one move of one game, if it is the watcher's turn, or if the worker's trace is published: a proof need not wait for a turn. */
export async function play(
  responder: Responder,
  claim: ClaimRecord,
  game: GameRecord,
  execution: Execution,
  { arityBits, now, tensors, onDisagreement }: Playing,
): Promise<Played | undefined> {
  const move = challengerMove(execution, claim.nodes, game.moves, arityBits, now);
  const short = tensors && (await playPublished(responder, claim, game, execution, move, tensors));
  if (short !== undefined) return short;
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

/**
 * Ends a game with a proof from the worker's published tensor. Whatever is wrong with what is published, the game goes on without it:
 * nothing is conceded here.
 */
async function playPublished(
  responder: Responder,
  claim: ClaimRecord,
  game: GameRecord,
  execution: Execution,
  move: ChallengerMove,
  tensors: TensorSource,
): Promise<Played | undefined> {
  const ahead = tensorAhead(execution, game.moves, move);
  if (ahead === undefined) return undefined;
  const tensor = await publishedTensor(tensors, claim.id, ahead.step, ahead.bytes, ahead.committed);
  const proof = tensor && publishedProof(execution, claim.nodes, game.moves, move, ahead, tensor);
  if (proof === undefined) return undefined;
  try {
    return { move: "prove", receipt: await responder.move(claim, game, proof) };
  } catch (error) {
    if (error instanceof VerifierDisagreesError || error instanceof ContractRevertError) return undefined;
    throw error;
  }
}
