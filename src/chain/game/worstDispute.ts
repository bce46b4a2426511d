import { depthOf } from "../../merkle/list.ts";
import { CHUNK_BYTES } from "../../merkle/tensor.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import { estimateStepProofGas } from "../../program/gas.ts";
import type { Program } from "../../program/types.ts";
import { hopOf } from "./hop.ts";

/** What moves are worth: contracts/lib/GasSchedule.sol (test/chain/worstDispute.test.ts holds them to it). */
export const MOVE_GAS = {
  open: 113_000,
  pick: 60_500,
  pickSeam: 10_500,
  chunk: 66_000,
  expand: 57_500,
  reveal: 56_000,
  child: 900,
} as const;

export type MoveName = "open" | "reveal" | "pick" | "expand" | "chunk" | "prove";

/** A game from its opening to the proof. */
export type DisputeCost = { moves: MoveName[]; gas: number; step: number };

/**
 * The moves of a game over one element of `step`, entered through checkpoint `j`, if nobody skips a level: by the hop rule and the
 * depths of the lists.
 */
export function disputeCost(program: Program, j: number, step: number, arityBits: number): DisputeCost {
  const moves: MoveName[] = ["open"];
  let gas: number = MOVE_GAS.open;
  const add = (move: MoveName, cost: number): void => {
    moves.push(move);
    gas += cost;
  };
  const children = (hop: number): number => MOVE_GAS.child * 2 ** hop;
  /** Down a list, by reveals and picks; `revealed` are the levels that the move before has shown. */
  const goDown = (depth: number, leafIsSeam: boolean, revealed = 0): void => {
    let left = depth;
    let shown = revealed;
    while (left > 0) {
      const hop = shown > 0 ? shown : hopOf(left, arityBits);
      if (shown === 0) add("reveal", MOVE_GAS.reveal + children(hop));
      shown = 0;
      left -= hop;
      add("pick", MOVE_GAS.pick + (left === 0 && leafIsSeam ? MOVE_GAS.pickSeam : 0));
    }
  };

  const traceDepth = depthOf(program.checkpoints.length);
  if (traceDepth === 0) gas += MOVE_GAS.pickSeam;
  goDown(traceDepth, true);
  const { first, step: last } = program.checkpoints[j]!;
  if (first < last) {
    const depth = depthOf(last - first + 1);
    const hop = hopOf(depth, arityBits);
    add("expand", MOVE_GAS.expand + children(hop));
    goDown(depth, true, hop);
  }
  const { count, dtype } = program.steps[step]!;
  goDown(depthOf(Math.ceil((count * dtypeBytes(dtype)) / CHUNK_BYTES)), false);
  add("chunk", MOVE_GAS.chunk);
  add("prove", estimateStepProofGas(program.steps[step]!));
  return { moves, gas, step };
}

/** The dispute of a program that takes the most gas. @param arityBits log2 of the children in a reveal: the deployment's. */
export function worstDispute(program: Program, arityBits: number): DisputeCost {
  let worst: DisputeCost | undefined;
  program.checkpoints.forEach(({ first, step: last }, j) => {
    for (let step = first; step <= last; step++) {
      const cost = disputeCost(program, j, step, arityBits);
      if (worst === undefined || cost.gas > worst.gas) worst = cost;
    }
  });
  return worst!;
}
