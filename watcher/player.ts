import type { TransactionReceipt } from "viem";
import type { Execution } from "../src/chain/game/execution.ts";
import type { ClaimRecord, GameRecord } from "../src/chain/history.ts";
import { VerifierDisagreesError, type Responder } from "./responder.ts";
import { challengerMove, type ChallengerMove } from "./strategy.ts";

/** A move that was sent. */
export type Played = { move: ChallengerMove["kind"]; receipt: TransactionReceipt };

/**
 * Plays one move of one game, if it is the watcher's turn.
 * @param onDisagreement Called when the chain's verifier refutes the watcher itself; the game is then conceded.
 */
export async function play(
  responder: Responder,
  claim: ClaimRecord,
  game: GameRecord,
  execution: Execution,
  { arityBits, now, onDisagreement }: { arityBits: number; now: bigint; onDisagreement: (error: Error) => void },
): Promise<Played | undefined> {
  const move = challengerMove(execution, claim.nodes, game.moves, arityBits, now);
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
