import type { Hex } from "viem";
import { disputedOf } from "./disputed.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { buildStepProof, firstDifferentElement } from "./stepProof.ts";
import type { MoveRecord } from "../chain/market/history.ts";
import { Level, NO_STEP } from "../chain/structs.ts";
import { CHUNK_BYTES, depthOf } from "../program/merkle/sizes.ts";
import { chunkOf } from "../program/merkle/tensor.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import type { CommittedNode, PublishedTensor } from "../program/trace/published.ts";
import type { ChallengerMove } from "./challengerMove.ts";

/** The tensor with which a game could be ended now. */
type TensorAhead = { item: number; step: number; first: number; bytes: number; committed: CommittedNode };

/**
 * Returns the current tensor of a game, or the tensor that a pick enters: with the tensor's bytes at hand, the next
 * move is the proof.
 * @param move The challenger's move without the published tensor.
 * @returns undefined while the game is in a list of tensors, or at a revealed chunk
 */
export function tensorAhead(
  { program: { model } }: RunExecution,
  moves: readonly MoveRecord[],
  move: ChallengerMove,
): TensorAhead | undefined {
  const { state } = moves.at(-1)!;
  const bytesOf = (step: number): number => {
    const { count, dtype } = model.program.steps[step]!;
    return count * dtypeBytes(dtype);
  };
  if (state.level === Level.tensor) {
    const { item, step, first, depth: height, index, node } = state;
    if (move.kind === "prove" || move.kind === "timeout" || move.kind === "concede") return undefined;
    return { item, step, first, bytes: bytesOf(step), committed: { height, index, node } };
  }
  // Only a pick that enters a tensor brings a step.
  if (move.kind !== "pick" || move.pick.step.bodyHash === NO_STEP.bodyHash) return undefined;
  const { index, node } = move.pick;
  const step = state.level === Level.interior ? state.first + Number(index) : move.pick.checkpoint.step;
  const bytes = bytesOf(step);
  const height = depthOf(Math.ceil(bytes / CHUNK_BYTES));
  return {
    // A pick goes from the items' list into a tensor only if a trace has one checkpoint, with one step.
    item: state.level === Level.run || state.level === Level.items ? Number(index) : state.item,
    step,
    first: state.level === Level.interior ? state.first : step,
    bytes,
    committed: { height, index: 0, node },
  };
}

/**
 * Returns the proof from a published tensor: a proof about the first element, below the worker's committed node, that
 * differs from the challenger's own element.
 * @param move The challenger's move without the published tensor: if the move is a pick, the pick carries the proof.
 * @returns undefined if no element differs
 */
export function publishedProof(
  run: RunExecution,
  nodes: Hex,
  moves: readonly MoveRecord[],
  move: ChallengerMove,
  { item, step, first, committed }: TensorAhead,
  { bytes, tree }: PublishedTensor,
): Extract<ChallengerMove, { kind: "prove" }> | undefined {
  const { height, index } = committed;
  const execution = run.item(item);
  const own = execution.trace.tree(step);
  const end = Math.min(tree.width, (index + 1) * 2 ** height);
  let chunk = index * 2 ** height;
  while (chunk < end && tree.node(0, chunk) === own.node(0, chunk)) chunk++;
  if (chunk === end) return undefined;
  const claimed = chunkOf(bytes, chunk);
  const { dtype } = execution.model.program.steps[step]!;
  const element = firstDifferentElement(claimed, chunkOf(execution.trace.tensor(step), chunk), chunk, dtype);
  if (element === undefined) return undefined;
  const target = { item, step, first, element, chunk: claimed };
  const { proof, exact } = buildStepProof(run, disputedOf(run, nodes, moves), target);
  const pick = move.kind === "pick" ? { ...proof.pick, ...move.pick } : proof.pick;
  return { kind: "prove", proof: { ...proof, pick, chunkSiblings: tree.path(chunk, 0, height) }, exact };
}
