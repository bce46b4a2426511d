import type { Hash } from "../merkle/hash.ts";
import type { DisputedList } from "../trace/disputedList.ts";
import { Level, NO_CHECKPOINT, NO_PROGRAM, NO_STEP, type Pick } from "../chain/structs.ts";
import { programFacts, type KnownProgram } from "../player/execution.ts";
import { hopOf } from "../market/hop.ts";
import { openCheckpoint, openStep } from "./openings.ts";
import type { GameState } from "../market/state.ts";

/** Where a pick lands. */
type Landing = { level: Level; depth: number; index: number; node: Hash; siblings: Hash[] };

/**
 * The pick that opens a game: the first node of those submitted that differs from the challenger's own.
 * @param level What the submitted list is: the run, or the trace of the only item.
 * @param list The worker's list as submitted.
 * @param lost Games that were lost there: a game is named by where it was opened, so the next one begins a level higher
 *   for each.
 * @returns undefined if no node differs, or all games from there up to the root are lost
 */
export function openingPick(
  program: KnownProgram,
  level: Level,
  list: DisputedList,
  arityBits: number,
  lost = 0,
): Pick | undefined {
  const hop = hopOf(list.depth, arityBits);
  const different = list.firstDifference(list.depth, 0, hop);
  if (different === undefined || lost > hop) return undefined;
  const depth = list.depth - hop + lost;
  const index = Math.floor(different / 2 ** lost);
  const landing = { depth, index, node: list.node(depth, index), siblings: list.path(index, depth) };
  return landOn(program, { ...landing, level }, 0);
}

/** The pick of a node in the list that `state` is in. */
export const pickBelow = (program: KnownProgram, state: GameState, landing: Omit<Landing, "level">): Pick =>
  landOn(program, { ...landing, level: state.level }, state.first);

function landOn(program: KnownProgram, { level, depth, index, node, siblings }: Landing, first: number): Pick {
  const pick: Pick = {
    index: BigInt(index),
    node,
    siblings,
    program: NO_PROGRAM,
    checkpoint: NO_CHECKPOINT,
    step: NO_STEP,
  };
  if (depth > 0 || level === Level.tensor) return pick;
  // A leaf of the run is a trace root, which is a leaf itself if there is one checkpoint.
  if (level === Level.run && program.model.program.checkpoints.length > 1) return pick;
  const facts = programFacts(program.commitment);
  if (level === Level.interior) return { ...pick, program: facts, step: openStep(program, first + index) };
  const checkpoint = openCheckpoint(program, level === Level.run ? 0 : index);
  // A range of one step has no interior list: the game enters the tensor at once.
  const step = checkpoint.first === checkpoint.step ? openStep(program, checkpoint.step) : NO_STEP;
  return { ...pick, program: facts, checkpoint, step };
}
