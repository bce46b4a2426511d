import type { TransactionReceipt } from "viem";
import type { RunExecution } from "../../dispute/run/runExecution.ts";
import { workerMove, type WorkerMove } from "../../dispute/workerMove.ts";
import { claimContentOf } from "../../chain/market/ids.ts";
import { packState } from "../../chain/market/state.ts";
import { stateOf, type GameRecord } from "../../chain/market/history.ts";
import type { Session } from "../../chain/market/session.ts";
import type { WorkerEvent } from "./events.ts";

/** Makes the worker's next move in a game. @returns undefined when there is none to make. */
export const defend = (session: Session, game: GameRecord, execution: RunExecution, now: bigint) =>
  sendMove(session, game, workerMove(execution, stateOf(game), session.deployment.parameters.arityBits, now));

/** Sends a worker's move. @returns undefined when there is nothing to send. */
export async function sendMove(session: Session, game: GameRecord, move: WorkerMove): Promise<WorkerEvent | undefined> {
  const packed = packState(stateOf(game));
  const { key } = game;
  const moved = (receipt: TransactionReceipt): WorkerEvent => {
    return { kind: "moved", gameId: game.id, move: move.kind, receipt };
  };
  switch (move.kind) {
    case "wait":
      return undefined;
    case "reveal":
      return moved(await session.game.reveal(packed, move.data));
    case "expand":
      return moved(await session.game.expand(packed, claimContentOf(key), move.children, move.siblings));
    case "timeout":
      return moved(await session.game.timeout(packed, key));
  }
}
