import { Level } from "../chain/structs.ts";
import type { GameState } from "../chain/market/state.ts";
import type { Hash } from "../program/merkle/hash.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { carriesState } from "../program/run.ts";
import type { Program } from "../program/types.ts";
import { isOfEachItem } from "../program/trace/answer.ts";
import { checkpointOf } from "./openings.ts";

/** Where a game goes from an output of an answer: the list of its items, or what the worker expands it into. */
type ListBelow = "items" | "run" | "trace";

/** What of a program decides where its games go. */
type Shape = Pick<Program, "inputs" | "outputs" | "each">;

/** The list to which an output of an answer leads. @param items Of the run. */
export function listBelow(program: Shape, output: number, items: number): ListBelow {
  if (items === 1) return "trace";
  if (isOfEachItem(program, output)) return "items";
  // What the last item takes from the others is theirs: only the whole run says whether it is right.
  return carriesState(program.inputs) ? "run" : "trace";
}

/** The items of the disputed output. @param state At `Level.Items`. */
export function outputItems(
  { answer, program: { model } }: RunExecution,
  { step: checkpoint, width }: Pick<GameState, "step" | "width">,
): MerkleList {
  const list = answer.outputs.find((items, k) => model.program.outputs[k] === checkpoint && items.width === width);
  if (list === undefined) throw new RangeError(`checkpoint ${checkpoint} is no output of ${width} items`);
  return list;
}

/**
 * What a worker expands a leaf into: a list of its own execution, and the leaf's path up to the list's root.
 * @param state At an output of an answer, or at a leaf of a trace.
 * @throws MissingItemsError, MissingTensorsError
 */
export function expansionOf(
  run: RunExecution,
  { level, item, step: checkpoint, last }: Pick<GameState, "level" | "item" | "step" | "last">,
): { list: MerkleList; path: Hash[] } {
  const { trace } = run.item(item);
  if (level === Level.trace) {
    // The list of a range ends in the tensor of its checkpoint.
    const list = trace.interior(checkpointOf(run.program, last));
    return { list, path: list.path(list.width - 1) };
  }
  const path = trace.list.path(checkpoint);
  return level === Level.answer
    ? { list: run.list, path: [...path, ...run.list.path(item)] }
    : { list: trace.list, path };
}
