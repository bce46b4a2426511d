import { createExecutor } from "../../src/executor/createExecutor.ts";
import { executeReference, type ExecutionOptions } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { plainEngine } from "./plainEngine.ts";

/** How a model is executed here: by compiled loops, or element by element. Both give the same bits. */
export type Exactly = {
  by: "kernels" | "definition";
  /** @returns The tensor of each step. */
  run: (inputs: readonly Uint8Array[], options: ExecutionOptions) => Promise<readonly Uint8Array[]>;
};

/**
 * Makes what executes a model: the worker's own executor in one thread, with products in this language. Where this
 * browser does not have what its kernels need, or not the memory, the definition.
 */
export async function exactly(model: CompiledModel): Promise<Exactly> {
  try {
    const executor = await createExecutor(model, { engine: plainEngine });
    return { by: "kernels", run: async (inputs, options) => (await executor.run(inputs, options)).tensors };
  } catch {
    // Whatever is missing, the definition needs none of it.
    return { by: "definition", run: (inputs, options) => Promise.resolve(executeReference(model, inputs, options)) };
  }
}
