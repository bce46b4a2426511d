import { createExecutor, type Executor } from "../../src/executor/createExecutor.ts";
import { ExecutionMemoryError } from "../../src/executor/errors.ts";
import { executeReference, type ExecutionOptions } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { plainEngine } from "./plainEngine.ts";

/** How a model is executed here: by compiled loops, or element by element. Both give the same bits. */
export type Exactly = {
  /** What executed it last; before that, what is to. */
  readonly by: "kernels" | "definition";
  /** @returns The tensor of each step. */
  run: (inputs: readonly Uint8Array[], options: ExecutionOptions) => Promise<readonly Uint8Array[]>;
};

/**
 * Makes what executes a model: the worker's own executor in one thread, with products in this language. Where this
 * browser does not have what its kernels need, or does not give the memory, now or when it executes, the definition.
 * @throws What else goes wrong
 */
export async function exactly(model: CompiledModel): Promise<Exactly> {
  let executor: Executor | undefined = await unlessLacking(createExecutor(model, { engine: plainEngine }));
  return {
    get by() {
      return executor === undefined ? "definition" : "kernels";
    },
    run: async (inputs, options) => {
      const result = executor && (await unlessLacking(executor.run(inputs, options)));
      if (result !== undefined) return result.tensors;
      const lacking = executor;
      executor = undefined;
      // Its memory is free for the definition then.
      await lacking?.close();
      return executeReference(model, inputs, options);
    },
  };
}

/** Errors of an engine that does not take kernels, or that gives no memory. */
const LACKING = new Set(["CompileError", "LinkError", "RangeError"]);

/** @returns undefined if what kernels need is not there */
async function unlessLacking<T>(made: Promise<T>): Promise<T | undefined> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof ExecutionMemoryError || LACKING.has((error as Error).name)) return undefined;
    throw error;
  }
}
