import { dtypeBytes, readWord } from "../../src/numerics/dtype.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { tensorTree } from "../../src/program/merkle/tensor.ts";
import { openable, type Execution } from "../../src/dispute/run/execution.ts";
import type { StepProof } from "../../src/chain/structs.ts";
import type { Hash } from "../../src/program/merkle/hash.ts";
import { openElement } from "../../src/program/trace/opening.ts";

/** What a step is made to read instead of one of its inputs, and the path that is shown for it. */
type ForgedInput = { input: number; bytes: Uint8Array; siblings: readonly Hash[] };

/**
 * A step proof that is right but for one input: another tensor with an opening of its own, for which the step gives
 * another element. So nothing but its place can refuse it.
 * @throws Error if the step gives the claimed element for that tensor too
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
