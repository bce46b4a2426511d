import { disputeGameAbi } from "../chain/abi/disputeGame.ts";
import type { Execution } from "../chain/game/execution.ts";
import { workerMove } from "../chain/game/workerMove.ts";
import { packState } from "../chain/game/state.ts";
import { stateOf, type GameRecord } from "../chain/history.ts";
import type { Session } from "../chain/session.ts";
import type { WorkerEvent } from "./events.ts";

/** Makes the worker's next move in a game. @returns undefined when there is none to make. */
export async function defend(
  session: Session,
  game: GameRecord,
  execution: Execution,
  now: bigint,
): Promise<WorkerEvent | undefined> {
  const { sender, deployment } = session;
  const state = stateOf(game);
  const contract = { address: deployment.game, abi: disputeGameAbi } as const;
  const packed = packState(state);
  const { key } = game;
  const move = workerMove(execution, state, deployment.parameters.arityBits, now);
  const moved = (receipt: Awaited<ReturnType<typeof sender.send>>): WorkerEvent => {
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
