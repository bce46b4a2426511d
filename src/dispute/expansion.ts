import { Level } from "../chain/structs.ts";
import type { GameState } from "../chain/market/state.ts";
import type { Hash } from "../program/merkle/hash.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { carriesState } from "../program/run.ts";
import type { Program } from "../program/types.ts";
import { isOfEachItem } from "../program/trace/answer.ts";
import { checkpointOf } from "./openings.ts";

/** The list below an answer's output: the output's items, or the list into which the worker expands the output. */
type ListBelow = "items" | "run" | "trace";

/** The program's fields that decide where games go. */
type Shape = Pick<Program, "inputs" | "outputs" | "each">;

/**
 * Returns the list to which an answer's output leads.
 * @param items Number of items in the run.
 */
export function listBelow(program: Shape, output: number, items: number): ListBelow {
  if (items === 1) return "trace";
  if (isOfEachItem(program, output)) return "items";
  // The last item takes state from the other items: only the whole run proves whether the state is right.
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
 * Returns a worker's expansion of a leaf: a list from the worker's own execution, and the leaf's path up to the list's
 * root.
 * @param state At an answer's output, or at a trace's leaf.
 * @throws MissingItemsError, MissingTensorsError
 */
export function expansionOf(
  run: RunExecution,
  { level, item, step: checkpoint, last }: Pick<GameState, "level" | "item" | "step" | "last">,
): { list: MerkleList; path: Hash[] } {
  const { trace } = run.item(item);
  if (level === Level.trace) {
    // A range's list ends with the checkpoint's tensor.
    const list = trace.interior(checkpointOf(run.program, last));
    return { list, path: list.path(list.width - 1) };
  }
  const path = trace.list.path(checkpoint);
  return level === Level.answer
    ? { list: run.list, path: [...path, ...run.list.path(item)] }
    : { list: trace.list, path };
}
