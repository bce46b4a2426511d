import type { Hex } from "viem";
import { disputedOf, currentList } from "./disputed.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { overtime } from "../chain/market/clock.ts";
import { hopOf } from "../chain/market/revealLevels.ts";
import { pickBelow } from "./pick.ts";
import { isWholeGame } from "./wholeGame.ts";
import { buildStepProof, firstDifferentElement } from "./stepProof.ts";
import type { MoveRecord } from "../chain/market/history.ts";
import { Level, Side, type Pick, type StepProof } from "../chain/structs.ts";
import { chunkOf } from "../program/merkle/tensor.ts";

/** The next move of a challenger in a game. */
export type ChallengerMove =
  | { kind: "wait" }
  | { kind: "pick"; pick: Pick }
  | { kind: "prove"; proof: StepProof; exact: bigint }
  | { kind: "timeout" }
  | { kind: "concede"; reason: string };

/**
 * Returns a challenger's next move. The function is pure: the move depends only on the game's moves, the challenger's
 * own execution and the time, therefore a restart changes nothing. The challenger goes to the first difference: left of
 * the difference both executions agree, and the disputed step therefore reads values that both executions share.
 * @param nodes The nodes submitted with the claim.
 * @param moves The game's moves, oldest first. The challenger waits if a move is missing.
 * @param now The chain's time, unix seconds.
 */
export function challengerMove(
  run: RunExecution,
  nodes: Hex,
  moves: readonly MoveRecord[],
  arityBits: number,
  now: bigint,
): ChallengerMove {
  const { state } = moves.at(-1)!;
  if (state.turn === Side.worker) return overtime(state, now) > 0 ? { kind: "timeout" } : { kind: "wait" };
  // A later sync brings what is missing; a move that rests on less could lose the game.
  if (!isWholeGame(moves, arityBits)) return { kind: "wait" };
  const disputed = disputedOf(run, nodes, moves);
  if (state.level === Level.tensor && state.depth === 0 && disputed.chunk !== undefined) {
    const execution = run.item(state.item);
    const step = execution.model.program.steps[state.step]!;
    const chunk = state.index;
    const own = chunkOf(execution.trace.tensor(state.step), chunk);
    const element = firstDifferentElement(disputed.chunk, own, chunk, step.dtype);
    if (element === undefined) return { kind: "concede", reason: `chunk ${chunk} of step ${state.step} is one's own` };
    const target = { item: state.item, step: state.step, first: state.first, element, chunk: disputed.chunk };
    return { kind: "prove", ...buildStepProof(run, disputed, target) };
  }
  const list = currentList(disputed, state.level);
  const hop = hopOf(state.depth, arityBits);
  const index = list.firstDifference(state.depth, state.index, hop);
  if (index === undefined) return { kind: "concede", reason: "every revealed child is one's own" };
  const depth = state.depth - hop;
  const landing = { depth, index, node: list.node(depth, index), siblings: list.path(index, depth, state.depth) };
  return { kind: "pick", pick: pickBelow(run.program, state, landing) };
}
