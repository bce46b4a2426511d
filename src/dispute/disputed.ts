import { hexToBytes, type Hex } from "viem";
import type { Hash } from "../program/merkle/hash.ts";
import { DisputedList } from "../program/trace/disputedList.ts";
import type { MoveRecord } from "../chain/market/history.ts";
import { Level, Move } from "../chain/structs.ts";
import type { RunExecution } from "./run/runExecution.ts";
import { outputItems } from "./expansion.ts";
import { checkpointOf } from "./openings.ts";

/**
 * The worker's lists that a game has entered. A claim in trace form leads into the run, or into the only item's trace.
 * A claim in answer form leads into the outputs, the items of an output, and the list into which the worker expands a
 * leaf.
 */
export type Disputed = {
  answer?: DisputedList;
  items?: DisputedList;
  run?: DisputedList;
  trace?: DisputedList;
  interior?: DisputedList;
  tensor?: DisputedList;
  chunk?: Uint8Array;
};

/** The worker's list that its submission shows: see {@link RunExecution.claimed}. @param nodes What it shows. */
export function submittedList({ claimed }: Pick<RunExecution, "claimed">, nodes: Hex): DisputedList {
  const list = new DisputedList(claimed);
  list.addReveal(list.depth, 0, words(nodes));
  return list;
}

/**
 * Puts together what a worker's submission and a game's moves revealed.
 * @param nodes The nodes that came with the submission.
 * @param moves All of the game's moves, oldest first.
 */
export function disputedOf(run: RunExecution, nodes: Hex, moves: readonly MoveRecord[]): Disputed {
  const submitted = submittedList(run, nodes);
  const disputed: Disputed = { [LISTS[run.claimedLevel]]: submitted };
  moves.forEach(({ move, state, data }, k) => {
    const before = moves[k - 1]?.state;
    if (state.level === Level.items) disputed.items ??= new DisputedList(outputItems(run, state));
    if (state.level === Level.run) disputed.run ??= new DisputedList(run.list);
    if (isBelowTrace(state.level)) disputed.trace ??= new DisputedList(run.item(state.item).trace.list);
    if (state.level === Level.interior && move === Move.expand) {
      const { trace, ...program } = run.item(state.item);
      disputed.interior = new DisputedList(trace.interior(checkpointOf(program, state.last)));
    }
    if (move === Move.expand) {
      const list = currentList(disputed, state.level);
      list.addReveal(list.depth, 0, words(data));
    } else if (move === Move.reveal && before !== undefined) {
      if (before.level === Level.tensor && before.depth === 0) disputed.chunk = hexToBytes(data);
      else currentList(disputed, before.level).addReveal(before.depth, before.index, words(data));
    }
    if (state.level === Level.tensor) disputed.tensor ??= new DisputedList(run.item(state.item).trace.tree(state.step));
  });
  return disputed;
}

/** Returns true if a list is an item's trace or lies below the trace. */
const isBelowTrace = (level: Level): boolean =>
  level === Level.trace || level === Level.interior || level === Level.tensor;

const LISTS = {
  [Level.answer]: "answer",
  [Level.items]: "items",
  [Level.run]: "run",
  [Level.trace]: "trace",
  [Level.interior]: "interior",
  [Level.tensor]: "tensor",
} as const;

/** Returns the list of a level; the game must have entered the level. */
export function currentList(disputed: Disputed, level: Level): DisputedList {
  const list = disputed[LISTS[level]];
  if (list === undefined) throw new RangeError(`the game has not entered level ${level}`);
  return list;
}

const words = (data: Hex): Hash[] =>
  Array.from({ length: (data.length - 2) / 64 }, (_, k) => `0x${data.slice(2 + k * 64, 66 + k * 64)}` as const);
