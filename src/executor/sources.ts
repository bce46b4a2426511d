import { CHUNK_BYTES } from "../merkle/tensor.ts";
import { dtypeBytes, dtypeName } from "../numerics/dtype.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { Step, TensorRef } from "../program/types.ts";
import { ExecutionInputError } from "./errors.ts";

/**
 * Checks a job's inputs against the program: their number and the length of each.
 * @throws ExecutionInputError that names the input and what was expected.
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

/**
 * The bytes of the constant that a step refers to. Constants that differ only in zeros at the end of their last chunk have one
 * root: the model holds one of them, which is cut or filled up with zeros.
 * @throws ExecutionInputError if the model does not hold it, or holds one of another number of chunks.
 */
export function constantBytes(model: CompiledModel, ref: TensorRef & { kind: "constant" }): Uint8Array {
  const held = model.constants.get(ref.root);
  const expected = ref.count * dtypeBytes(ref.dtype);
  if (held?.length === expected) return held;
  if (held === undefined || chunks(held.length) !== chunks(expected)) {
    throw new ExecutionInputError(
      `constant ${ref.root} has ${held?.length ?? "no"} bytes here, expected ${expected}; compile the model again`,
    );
  }
  const bytes = new Uint8Array(expected);
  bytes.set(held.subarray(0, expected));
  return bytes;
}

const chunks = (bytes: number): number => Math.ceil(bytes / CHUNK_BYTES);

/** The tensors that a step reads, in the order of its inputs; `steps` are those of the steps before it. */
export function stepSources(
  model: CompiledModel,
  step: Step,
  inputs: readonly Uint8Array[],
  steps: readonly Uint8Array[],
): Uint8Array[] {
  return step.inputs.map((ref) => {
    if (ref.kind === "constant") return constantBytes(model, ref);
    return (ref.kind === "input" ? inputs : steps)[ref.index]!;
  });
}
