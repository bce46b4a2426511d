import type { Hash } from "../program/merkle/hash.ts";
import type { DisputedList } from "../program/trace/disputedList.ts";
import { Level, NO_CHECKPOINT, NO_PROGRAM, NO_STEP, type Pick as PickStruct } from "../chain/structs.ts";
import { programFacts, type KnownProgram } from "./run/execution.ts";
import { submittedHop } from "../chain/market/revealLevels.ts";
import { openCheckpoint, openStep } from "./openings.ts";
import type { GameState } from "../chain/market/state.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { listBelow } from "./expansion.ts";

/** The parts of an execution that decide where games over the claim open. */
type Claimed = Pick<RunExecution, "program" | "items" | "form" | "claimedLevel">;

/** Where a pick lands. */
type PickTarget = { depth: number; index: number; node: Hash; siblings: Hash[] };

/**
 * Returns the opening pick of a game: the first submitted node that differs from the challenger's own node.
 * @param list The worker's list as submitted.
 * @returns undefined if no node differs
 */
export function openingPick(run: Claimed, list: DisputedList, arityBits: number): PickStruct | undefined {
  const differing = (levels: number): number | undefined => list.firstDifference(list.depth, 0, levels);
  // In a claim submitted without nodes, only the root is known to differ: the game begins at the root, with a reveal.
  const hop = [submittedHop(list.depth, run.form, arityBits), 0].find((levels) => differing(levels) !== undefined);
  if (hop === undefined) return undefined;
  const index = differing(hop)!;
  const depth = list.depth - hop;
  return pickAt(run, { depth, index, node: list.node(depth, index), siblings: list.path(index, depth) });
}

/** Returns the pick that opens a game at a node in the claimed list. */
export function pickAt(
  { program, items, claimedLevel: level }: Omit<Claimed, "form">,
  landing: PickTarget,
): PickStruct {
  if (level !== Level.answer) return landOn(program, level, landing, 0);
  const { program: compiled } = program.model;
  const isLeaf = listBelow(compiled, landing.index, items) === "trace" && compiled.checkpoints.length === 1;
  return isLeaf ? atCheckpoint(program, landing, 0) : { ...bare(landing), program: programFacts(program.commitment) };
}

/** Returns the pick for a node in the list of `state`. */
export const pickBelow = (program: KnownProgram, { level, first }: GameState, landing: PickTarget): PickStruct =>
  landOn(program, level, landing, first);

function landOn(program: KnownProgram, level: Level, landing: PickTarget, first: number): PickStruct {
  const { depth, index } = landing;
  if (depth > 0 || level === Level.tensor) return bare(landing);
  // A leaf in the run holds a trace root; a leaf in an output's items holds a trace's leaf. With one checkpoint both
  // are the same.
  const isItem = level === Level.run || level === Level.items;
  if (isItem && program.model.program.checkpoints.length > 1) return bare(landing);
  if (level !== Level.interior) return atCheckpoint(program, landing, isItem ? 0 : index);
  return { ...bare(landing), program: programFacts(program.commitment), step: openStep(program, first + index) };
}

/** Returns a pick that lands on a trace's leaf: checkpoint `j`. */
function atCheckpoint(program: KnownProgram, landing: PickTarget, j: number): PickStruct {
  const checkpoint = openCheckpoint(program, j);
  // A one-step range has no interior list: the game enters the tensor at once.
  const step = checkpoint.first === checkpoint.step ? openStep(program, checkpoint.step) : NO_STEP;
  return { ...bare(landing), program: programFacts(program.commitment), checkpoint, step };
}

/** A pick that lands above the leaves. */
const bare = ({ index, node, siblings }: PickTarget): PickStruct => ({
  index: BigInt(index),
  node,
  siblings,
  program: NO_PROGRAM,
  checkpoint: NO_CHECKPOINT,
  step: NO_STEP,
});
