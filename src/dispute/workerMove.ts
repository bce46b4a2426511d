import type { Hex } from "viem";
import { toHex, type Hash } from "../merkle/hash.ts";
import type { MerkleList } from "../merkle/list.ts";
import { chunkOf } from "../merkle/tensor.ts";
import { Level, Side } from "../chain/structs.ts";
import type { GameState } from "../market/state.ts";
import type { RunExecution } from "../player/runExecution.ts";
import { overtime } from "../market/clock.ts";
import { hopOf } from "../market/hop.ts";
import { checkpointOf } from "./openings.ts";

/** What a worker does next in a game. */
export type WorkerMove =
  | { kind: "wait" }
  | { kind: "reveal"; data: Hex }
  | { kind: "expand"; children: Hex; siblings: Hash[] }
  | { kind: "timeout" };

/** The move that needs no execution, while it is the challenger's turn. */
export function idleWorkerMove(state: GameState, now: bigint): WorkerMove | undefined {
  if (state.turn !== Side.challenger) return undefined;
  return overtime(state, now) > 0 ? { kind: "timeout" } : { kind: "wait" };
}

/**
 * A worker's next move. Pure: it depends on the game's state and the worker's own execution only, so a restart changes
 * nothing.
 * @param now The chain's time, unix seconds.
 */
export function workerMove(run: RunExecution, state: GameState, arityBits: number, now: bigint): WorkerMove {
  const idle = idleWorkerMove(state, now);
  if (idle !== undefined) return idle;
  const { index } = state;
  if (state.depth > 0) return { kind: "reveal", data: childrenOf(listOf(run, state), state.depth, index, arityBits) };
  const { trace } = run.item(state.item);
  if (state.level === Level.tensor) return { kind: "reveal", data: toHex(chunkOf(trace.tensor(state.step), index)) };
  const interior = trace.interior(checkpointOf(run.program, state.last));
  const hop = hopOf(interior.depth, arityBits);
  return {
    kind: "expand",
    children: childrenOf(interior, interior.depth, 0, arityBits),
    siblings: interior.path(interior.width - 1, 0, interior.depth - hop),
  };
}

/**
 * What a worker submits: the nodes that a reveal at the claim's root would show.
 * @param claimed The list that the claim's root is the root of.
 */
export const submissionOf = (claimed: MerkleList, arityBits: number): Hex =>
  childrenOf(claimed, claimed.depth, 0, arityBits);

/** The list that a state is in, as the worker's execution has it. */
export function listOf(run: RunExecution, state: GameState): MerkleList {
  if (state.level === Level.run) return run.list;
  const { trace } = run.item(state.item);
  if (state.level === Level.trace) return trace.list;
  return state.level === Level.interior
    ? trace.interior(checkpointOf(run.program, state.last))
    : trace.tree(state.step);
}

/** The nodes one hop below a node, concatenated. */
function childrenOf(list: MerkleList, height: number, index: number, arityBits: number): Hex {
  const hop = hopOf(height, arityBits);
  const nodes = Array.from({ length: 2 ** hop }, (_, k) => list.node(height - hop, index * 2 ** hop + k));
  return `0x${nodes.map((node) => node.slice(2)).join("")}`;
}
