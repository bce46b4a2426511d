import type { TransactionReceipt } from "viem";
import { ContractRevertError } from "../src/chain/errors.ts";
import type { ChallengerMove } from "../src/dispute/challengerMove.ts";
import type { PlannedMove } from "../src/dispute/challengerPlan.ts";
import type { ClaimRecord, GameRecord } from "../src/chain/market/history.ts";
import { VerifierDisagreesError, type Responder } from "./responder.ts";

/** A move that was sent. */
type Played = { move: ChallengerMove["kind"]; receipt: TransactionReceipt };

/**
 * Makes a planned move.
 * @param onDisagreement Called when the chain's verifier refutes the watcher itself; the game is then conceded.
 * @returns undefined if there was none to make
 */
export async function sendPlannedMove(
  responder: Responder,
  claim: ClaimRecord,
  game: GameRecord,
  { move, shortcut }: PlannedMove,
  onDisagreement: (error: Error) => void,
): Promise<Played | undefined> {
  const ended = shortcut && (await tryShortcut(responder, claim, game, shortcut));
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

/**
 * Ends a game with a proof from the worker's published tensor. If the tensor is faulty, the game goes on without the
 * tensor: nothing is conceded here.
 */
async function tryShortcut(
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
