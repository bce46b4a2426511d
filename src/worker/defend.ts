import type { TransactionReceipt } from "viem";
import { disputeGameAbi } from "../chain/abi/disputeGame.ts";
import type { Execution } from "../player/execution.ts";
import { workerMove, type WorkerMove } from "../dispute/workerMove.ts";
import { packState } from "../market/state.ts";
import { stateOf, type GameRecord } from "../market/history.ts";
import type { Session } from "../market/session.ts";
import type { WorkerEvent } from "./events.ts";

/** Makes the worker's next move in a game. @returns undefined when there is none to make. */
export const defend = (session: Session, game: GameRecord, execution: Execution, now: bigint) =>
  makeMove(session, game, workerMove(execution, stateOf(game), session.deployment.parameters.arityBits, now));

/** Sends a worker's move. @returns undefined when there is nothing to send. */
export async function makeMove(
  { sender, deployment }: Session,
  game: GameRecord,
  move: WorkerMove,
): Promise<WorkerEvent | undefined> {
  const contract = { address: deployment.game, abi: disputeGameAbi } as const;
  const packed = packState(stateOf(game));
  const { key } = game;
  const moved = (receipt: TransactionReceipt): WorkerEvent => {
    return { kind: "moved", gameId: game.id, move: move.kind, receipt };
  };
  switch (move.kind) {
    case "wait":
      return undefined;
    case "reveal":
      return moved(await sender.send({ ...contract, functionName: "reveal", args: [packed, move.data] }));
    case "expand": {
      const args = [packed, key.jobId, key.traceRoot, move.children, move.siblings] as const;
      return moved(await sender.send({ ...contract, functionName: "expand", args }));
    }
    case "timeout":
      return moved(await sender.send({ ...contract, functionName: "timeout", args: [packed, key] }));
  }
}
