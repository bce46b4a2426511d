import type { CompiledModel } from "../program/compiled.ts";
import { executeStepReference } from "./referenceStep.ts";
import { checkInputs, stepSources } from "./sources.ts";

/** Callbacks of an execution. */
export type ExecutionOptions = {
  /** Runs after a step's tensor is computed and before any later step reads it. The callback may change the bytes. */
  onStep?: (step: number, tensor: Uint8Array) => void;
  /** Called after each step with the number of steps done and of all steps. */
  progress?: (done: number, total: number) => void;
};

/**
 * Executes a program by the definition, element by element. It is slow and simple: every other executor is tested
 * against it.
 * @param inputs The job's inputs in the program's order: little-endian, row-major bytes.
 * @returns One tensor for each step: canonical bytes, little-endian.
 * @throws ExecutionInputError if inputs or constants do not fit the program.
 */
export function executeReference(
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  options: ExecutionOptions = {},
): Uint8Array[] {
  checkInputs(model, inputs);
  const { steps } = model.program;
  const tensors: Uint8Array[] = [];
  steps.forEach((step, s) => {
    const tensor = executeStepReference(step, stepSources(model, step, inputs, tensors));
    options.onStep?.(s, tensor);
    tensors.push(tensor);
    options.progress?.(s + 1, steps.length);
  });
  return tensors;
}
