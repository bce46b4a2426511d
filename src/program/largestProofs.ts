import { estimateStepProof } from "./gas.ts";
import { runProofBytes } from "./proofBytes.ts";
import type { Program } from "./types.ts";

/** The steps whose proofs take the most gas, and the most bytes: `maxStepGas` and `maxStepBytes` of the program. */
export function largestProofs({ steps, inputs, maxStepGas, maxStepBytes }: Program): { gas: number; bytes: number } {
  const sources = inputs.map(({ source }) => source?.kind ?? "shared");
  const proofs = steps.map((step) => {
    const { gas, bytes } = estimateStepProof(step);
    return { gas, bytes: bytes + runProofBytes(step, sources) };
  });
  return {
    gas: proofs.findIndex(({ gas }) => gas === maxStepGas),
    bytes: proofs.findIndex(({ bytes }) => bytes === maxStepBytes),
  };
}
