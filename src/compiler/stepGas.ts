import { CHUNK_BYTES } from "../merkle/tensor.ts";
import { dtypeBytes } from "../numerics/dtype.ts";
import type { Step, View } from "../program/types.ts";

/** Transaction, program opening, decoding of the step. */
const BASE_GAS = 300_000;
/** A chunk and its path as calldata at the floor of EIP-7623 (40 gas a byte), and hashing them. */
const CHUNK_GAS = 28_000;
/** One term of an exact reduction, and one read or instruction of a term. */
const TERM_GAS = 300;
const TERM_PART_GAS = 600;
/** An instruction of the epilogue, at the price of an elementary function. */
const EPILOGUE_GAS = 3_000;

/** The most chunks that a term's read can touch for one output: by how many elements it reads, and how far apart they lie. */
function chunksRead(step: Step, view: View): number {
  const perChunk = CHUNK_BYTES / dtypeBytes(step.inputs[view.input]!.dtype);
  let distance = 0;
  let reads = 1;
  step.redDigits.forEach((radix, k) => {
    const digit = step.outDigits.length + k;
    const reach = view.axes.reduce(
      (sum, axis) => sum + axis.stride * Math.abs(axis.coeffs.find((c) => c.digit === digit)?.coeff ?? 0),
      0,
    );
    if (reach === 0) return;
    distance += reach * (radix - 1);
    reads *= radix;
  });
  return Math.min(reads, Math.ceil(distance / perChunk) + 1);
}

/** Gas of proving one element of a step on chain, roughly and from above. */
export function estimateStepProofGas(step: Step): number {
  const terms = step.redDigits.reduce((product, radix) => product * radix, 1);
  const chunks = step.termReads.reduce((sum, view) => sum + chunksRead(step, view), step.epilogueReads.length);
  const perTerm = TERM_GAS + TERM_PART_GAS * (step.termReads.length + step.term.code.length);
  return BASE_GAS + chunks * CHUNK_GAS + terms * perTerm + step.epilogue.code.length * EPILOGUE_GAS;
}
