import { dtypeBytes, dtypeName } from "../numerics/dtype.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { constantBytes } from "../program/constants.ts";
import type { Step } from "../program/types.ts";
import { ExecutionInputError } from "./errors.ts";

/**
 * Checks a job's inputs against the program: the number of inputs, and each input's length.
 * @throws ExecutionInputError that names the input and the expected value.
 */
export function checkInputs(model: CompiledModel, inputs: readonly Uint8Array[]): void {
  const expected = model.program.inputs;
  if (inputs.length !== expected.length)
    throw new ExecutionInputError(`the program takes ${expected.length} inputs, got ${inputs.length}`);
  expected.forEach(({ dtype, count }, i) => {
    const bytes = count * dtypeBytes(dtype);
    if (inputs[i]!.length !== bytes) {
      const name = model.inputs[i]?.name ?? String(i);
      throw new ExecutionInputError(
        `input "${name}" has ${inputs[i]!.length} bytes, expected ${bytes} (${count} x ${dtypeName(dtype)})`,
      );
    }
  });
}

/** Returns the tensors that a step reads, in input order; `steps` holds the tensors of earlier steps. */
export function stepSources(
  model: CompiledModel,
  step: Step,
  inputs: readonly Uint8Array[],
  steps: readonly Uint8Array[],
): Uint8Array[] {
  return step.inputs.map((ref) => {
    if (ref.kind === "constant") return constantBytes(model.constants, ref);
    return (ref.kind === "input" ? inputs : steps)[ref.index]!;
  });
}
