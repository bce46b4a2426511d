import type { Trace } from "../../src/program/trace/trace.ts";
import { GameDriver } from "./gameDriver.ts";
import { lyingTrace, chainProgram, type GameProgram } from "./chainProgram.ts";
import { claimKey, submitted } from "./world.ts";
import type { World } from "./deployWorld.ts";

/** 22 steps in 5 ranges, tensors with 3 chunks: padding in every list, a one-step range, a list with 3 levels. */
export const disputedProgram = chainProgram(300, [3, 1, 5, 6, 7]);

/** Where the liar of `againstLiar` lies. */
export const LIE = { step: 12, element: 299, checkpoint: 3 };

/** Returns helpers for repeated actions in tests of the game, within a file's world. */
export function disputeKit(world: () => World) {
  /** A game against a liar (or, with an honest trace, without cause). */
  const against = async (trace: Trace, of: GameProgram = disputedProgram): Promise<GameDriver> =>
    new GameDriver(world(), of, trace, await submitted(world(), of, trace));
  return {
    against,
    againstLiar: () => against(lyingTrace(disputedProgram, LIE.step, LIE.element)),
    revert: (sent: Promise<unknown>, name: string): Promise<void> =>
      world().viem.assertions.revertWithCustomError(sent, world().game, name as never),
    pass: (seconds: number) => world().networkHelpers.time.increase(seconds),
    statusOf: async ({ claim, world: w }: GameDriver) => (await w.market.read.claimOf([claimKey(w, claim)]))[0],
  };
}
