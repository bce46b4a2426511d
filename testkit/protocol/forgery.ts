import { dtypeBytes, readWord } from "../../src/numerics/dtype.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { tensorTree } from "../../src/program/merkle/tensor.ts";
import { openable, type Execution } from "../../src/dispute/run/execution.ts";
import type { StepProof } from "../../src/chain/structs.ts";
import type { Hash } from "../../src/program/merkle/hash.ts";
import { openElement } from "../../src/program/trace/opening.ts";

/** A false tensor for one of a step's inputs, and the path shown for the tensor. */
type ForgedInput = { input: number; bytes: Uint8Array; siblings: readonly Hash[] };

/**
 * Returns a step proof with one false input: another tensor with a valid opening, for which the step gives another
 * element. Only the input's position can make the verifier refuse the proof.
 * @throws Error if the step gives the claimed element for the false tensor too
 */
export function withForgedInput(
  proof: StepProof,
  execution: Execution,
  step: number,
  { input, bytes, siblings }: ForgedInput,
): StepProof {
  const { inputs: refs, dtype } = execution.model.program.steps[step]!;
  const tree = tensorTree(bytes);
  const tensors = refs.map((ref, k) => (k === input ? { bytes, tree: () => tree } : openable(execution, ref)));
  const { value, openings } = openElement(execution.model.program.steps[step]!, Number(proof.element), tensors);
  const chunk = Buffer.from(proof.chunk.slice(2), "hex");
  const claimed = readWord(chunk, Number(proof.element) % (CHUNK_BYTES / dtypeBytes(dtype)), dtype);
  if (value === claimed) throw new Error("the forged tensor gives the claimed element");
  const inputs = proof.inputs.map((own, k) =>
    k === input ? { ...own, root: tree.root, siblings: [...siblings] } : own,
  );
  return { ...proof, inputs, openings };
}
