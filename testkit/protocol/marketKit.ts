import type { Hex } from "viem";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import type { Claim, Delivery, Job, JobRequest } from "../../src/chain/structs.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { honestTrace, chainProgram, type GameProgram } from "./chainProgram.ts";
import { factsOf, jobId, postJob, submitted, requestFor } from "./world.ts";
import type { World } from "./deployWorld.ts";

/** 6 steps in 3 ranges, tensors of 3 chunks. */
export const smallProgram = chainProgram(300, [3, 1, 2]);

/** The nodes that an honest worker submits for the small program. */
export const SUBMITTED_NODES = submissionOf(honestTrace(smallProgram).list, 4);

/** A root that is none of theirs. */
export const OTHER_ROOT: Hex = `0x${"ab".repeat(32)}`;

/** The delivery of an honest output. */
export function delivery(of: GameProgram = smallProgram, output = 0): Delivery {
  const trace = honestTrace(of);
  const checkpoint = of.program.outputs[output]!;
  return {
    program: factsOf(of.commitment),
    output,
    data: toHex(trace.tensor(of.program.checkpoints[checkpoint]!.step)),
    siblings: trace.list.path(checkpoint),
  };
}

/** Returns helpers for repeated actions in tests of the market, within a file's world. */
export function marketKit(world: () => World) {
  const reverts =
    (contract: "market" | "vault" | "game") =>
    (sent: Promise<unknown>, name: string): Promise<void> =>
      world().viem.assertions.revertWithCustomError(sent, world()[contract], name as never);
  const as = (name: "worker" | "watcher" | "requester" | "mallory") => ({ account: world()[name].account });
  const pass = (seconds: number) => world().networkHelpers.time.increase(seconds);
  const revert = reverts("market");
  return {
    revert,
    vaultRevert: reverts("vault"),
    gameRevert: reverts("game"),
    as,
    pass,
    post: async (changes: Partial<JobRequest> = {}, of: GameProgram = smallProgram): Promise<Job> =>
      postJob(world(), await requestFor(world(), of, changes)),
    refusedPost: async (name: string, changes: Partial<JobRequest>, of: GameProgram = smallProgram): Promise<void> =>
      revert(world().market.write.post([await requestFor(world(), of, changes)], as("requester")), name),
    statusOf: async (job: Job) => (await world().market.read.jobOf([jobId(world(), job)]))[0],
    /** Submits an honest claim and finalises it. */
    finalised: async (changes: Partial<JobRequest> = {}, of: GameProgram = smallProgram): Promise<Claim> => {
      const claim = await submitted(world(), of, honestTrace(of), changes);
      await pass(1_801);
      await world().market.write.finalise([claim]);
      return claim;
    },
  };
}
