import { toHash, sha256 } from "../program/merkle/hash.ts";
import { encodeStepBody } from "../program/encode.ts";
import type { Pick } from "../chain/structs.ts";
import type { KnownProgram } from "./run/execution.ts";

/** Opens checkpoint `j` under the program's checkpoints root. */
export function openCheckpoint({ model, commitment }: KnownProgram, j: number): Pick["checkpoint"] {
  const { first, step } = model.program.checkpoints[j]!;
  return { first, step, siblings: commitment.checkpoints.path(j) };
}

/** Opens the leaf of step `s` under the program's steps root. */
export function openStep({ model, commitment }: KnownProgram, s: number): Pick["step"] {
  const step = model.program.steps[s]!;
  const bodyHash = toHash(sha256(encodeStepBody(step)));
  return { dtype: step.dtype, count: BigInt(step.count), bodyHash, siblings: commitment.steps.path(s) };
}

/** Returns the checkpoint number for the tensor of `step`. */
export function checkpointOf({ model }: KnownProgram, step: number): number {
  const j = model.program.checkpoints.findIndex((checkpoint) => checkpoint.step === step);
  if (j === -1) throw new RangeError(`step ${step} is not a checkpoint`);
  return j;
}
