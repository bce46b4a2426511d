import { createExecutor } from "../../executor/createExecutor.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import { keptSteps, runItems } from "../../program/trace/runItems.ts";

/** Returns a copy of an item's output. @throws RangeError for an unknown output name */
type ItemOutputs = (name: string) => Uint8Array;

/** Executes a run exactly, without committing to it. @returns after each item its outputs */
export async function* itemOutputs(compiled: CompiledModel, inputs: RunInputs): AsyncGenerator<ItemOutputs> {
  const { program } = compiled;
  const kept = keptSteps(program);
  const executor = await createExecutor(compiled);
  try {
    const execute = async (each: readonly Uint8Array[]): Promise<readonly Uint8Array[]> =>
      (await executor.run(each, { keep: (step) => kept.has(step) })).tensors;
    for await (const tensors of runItems(program, inputs, execute))
      yield (name) => {
        const at = compiled.outputs.findIndex((each) => each.name === name);
        if (at < 0) throw new RangeError(`the run has no output "${name}"`);
        return Uint8Array.from(tensors[program.checkpoints[program.outputs[at]!]!.step]!);
      };
  } finally {
    await executor.close();
  }
}

/** The numbers of a copied tensor of float32. */
export const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(bytes.buffer);
