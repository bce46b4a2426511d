import type { Hex } from "viem";
import { toHex, type Hash } from "../program/merkle/hash.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import { chunkOf } from "../program/merkle/tensor.ts";
import { Level, Side } from "../chain/structs.ts";
import type { GameState } from "../chain/market/state.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { overtime } from "../chain/market/clock.ts";
import type { ClaimForm } from "../chain/market/claimForm.ts";
import { hopOf, submittedHop } from "../chain/market/revealLevels.ts";
import { expansionOf, outputItems } from "./expansion.ts";
import { checkpointOf } from "./openings.ts";

/** The next move of a worker in a game. */
export type WorkerMove =
  | { kind: "wait" }
  | { kind: "reveal"; data: Hex }
  | { kind: "expand"; children: Hex; siblings: Hash[] }
  | { kind: "timeout" };

/** Returns the worker's move that needs no execution, during the challenger's turn. */
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
  if (state.depth > 0) {
    const hop = hopOf(state.depth, arityBits);
    return { kind: "reveal", data: childrenOf(listOf(run, state), state.depth, index, hop) };
  }
  if (state.level === Level.tensor) {
    const chunk = chunkOf(run.item(state.item).trace.tensor(state.step), index);
    return { kind: "reveal", data: toHex(chunk) };
  }
  const { list, path } = expansionOf(run, state);
  const hop = hopOf(list.depth, arityBits);
  return {
    kind: "expand",
    children: childrenOf(list, list.depth, 0, hop),
    siblings: path.slice(0, path.length - hop),
  };
}

/**
 * Returns the nodes of a worker's submission: the nodes that a reveal at the claim's root would show; for an answer all
 * leaves.
 * @param claimed The list under the claim's root.
 */
export const submissionOf = (claimed: MerkleList, arityBits: number, form: ClaimForm = "trace"): Hex =>
  childrenOf(claimed, claimed.depth, 0, submittedHop(claimed.depth, form, arityBits));

/** Returns the list of a state, from the worker's execution. */
export function listOf(run: RunExecution, state: GameState): MerkleList {
  if (state.level === Level.answer) return run.answer.list;
  if (state.level === Level.items) return outputItems(run, state);
  if (state.level === Level.run) return run.list;
  const { trace } = run.item(state.item);
  if (state.level === Level.trace) return trace.list;
  return state.level === Level.interior
    ? trace.interior(checkpointOf(run.program, state.last))
    : trace.tree(state.step);
}

/** The nodes `hop` levels below a node, concatenated. */
function childrenOf(list: MerkleList, height: number, index: number, hop: number): Hex {
  const nodes = Array.from({ length: 2 ** hop }, (_, k) => list.node(height - hop, index * 2 ** hop + k));
  return `0x${nodes.map((node) => node.slice(2)).join("")}`;
}
