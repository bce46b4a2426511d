import type { Hash } from "../../merkle/hash.ts";
import { Level, NO_CHECKPOINT, NO_PROGRAM, NO_STEP, type GameState, type Pick } from "../types.ts";
import { programFacts, type KnownProgram } from "./execution.ts";
import { openCheckpoint, openStep } from "./openings.ts";

/** Where a pick lands. */
type Landing = { level: number; depth: number; index: number; node: Hash; siblings: Hash[] };

/** The pick that opens a game at a claim's trace root. */
export function openingPick(program: KnownProgram, traceRoot: Hash): Pick {
  // A trace has one leaf a checkpoint.
  const { depth } = program.commitment.checkpoints;
  const pick = landOn(program, { level: Level.trace, depth, index: 0, node: traceRoot, siblings: [] }, 0);
  return { ...pick, program: programFacts(program.commitment) };
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
  const facts = programFacts(program.commitment);
  if (level === Level.interior) return { ...pick, program: facts, step: openStep(program, first + index) };
  const checkpoint = openCheckpoint(program, index);
  // A range of one step has no interior list: the game enters the tensor at once.
  const step = checkpoint.first === checkpoint.step ? openStep(program, checkpoint.step) : NO_STEP;
  return { ...pick, program: facts, checkpoint, step };
}
