import { hexToBytes, type Hex } from "viem";
import type { Hash } from "../merkle/hash.ts";
import { DisputedList } from "../trace/disputedList.ts";
import type { MoveRecord } from "../market/history.ts";
import { Level, Move } from "../chain/structs.ts";
import type { Execution } from "../player/execution.ts";
import { checkpointOf } from "./openings.ts";

/** The worker's lists as far as a game has shown them. */
export type Disputed = { trace: DisputedList; interior?: DisputedList; tensor?: DisputedList; chunk?: Uint8Array };

/** The worker's trace as far as its submission shows it. @param nodes The nodes that came with it. */
export function submittedTrace({ trace }: Execution, nodes: Hex): DisputedList {
  const list = new DisputedList(trace.list);
  list.addReveal(list.depth, 0, words(nodes));
  return list;
}

/**
 * Puts together what a worker's submission and a game's moves revealed.
 * @param nodes The nodes that came with the submission.
 * @param moves All of the game's moves, oldest first.
 */
export function disputedOf(execution: Execution, nodes: Hex, moves: readonly MoveRecord[]): Disputed {
  const { trace } = execution;
  const disputed: Disputed = { trace: submittedTrace(execution, nodes) };
  moves.forEach(({ move, state, data }, k) => {
    const before = moves[k - 1]?.state;
    if (move === Move.expand) {
      disputed.interior = new DisputedList(trace.interior(checkpointOf(execution, state.last)));
      disputed.interior.addReveal(disputed.interior.depth, 0, words(data));
    } else if (move === Move.reveal && before !== undefined) {
      if (before.level === Level.tensor && before.depth === 0) disputed.chunk = hexToBytes(data);
      else currentList(disputed, before.level).addReveal(before.depth, before.index, words(data));
    }
    if (state.level === Level.tensor) disputed.tensor ??= new DisputedList(trace.tree(state.step));
  });
  return disputed;
}

/** The list of a level, which a game has entered. */
export function currentList(disputed: Disputed, level: Level): DisputedList {
  const list = level === Level.trace ? disputed.trace : level === Level.interior ? disputed.interior : disputed.tensor;
  if (list === undefined) throw new RangeError(`the game has not entered level ${level}`);
  return list;
}

const words = (data: Hex): Hash[] =>
  Array.from({ length: (data.length - 2) / 64 }, (_, k) => `0x${data.slice(2 + k * 64, 66 + k * 64)}` as const);
