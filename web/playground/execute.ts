import { createExecutorOn, type ChosenExecutor } from "../../src/executor/gpu/chooseExecutor.ts";
import { ExecutionMemoryError } from "../../src/executor/errors.ts";
import { executeReference, type ExecutionOptions } from "../../src/executor/reference.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import { plainEngine } from "./plainEngine.ts";

/** How a model is executed here: on a GPU, by compiled loops, or element by element. All give the same bits. */
export type Exactly = {
  /** What executed it last; before that, what is to. */
  readonly by: "gpu" | "kernels" | "definition";
  /** @returns The tensor of each step. */
  run: (inputs: readonly Uint8Array[], options: ExecutionOptions) => Promise<readonly Uint8Array[]>;
  /** Gives back a GPU and memory, once the execution that is under way has ended. */
  close: () => Promise<void>;
};

/**
 * Makes what executes a model: a GPU of this browser that passes its tests; else the worker's own executor in one
 * thread, with products in this language. Where this browser does not have what its kernels need, or does not give the
 * memory, now or when it executes, the definition.
 * @throws What else goes wrong
 */
export async function exactly(model: CompiledModel): Promise<Exactly> {
  const warn = (reason: string): void => console.info(reason);
  const made = createExecutorOn(typeof navigator === "object" && "gpu" in navigator ? "auto" : "cpu", model, warn, {
    engine: plainEngine,
  });
  let executor: ChosenExecutor | undefined = await unlessLacking(made);
  return {
    get by() {
      if (executor === undefined) return "definition";
      return executor.device === "cpu" ? "kernels" : "gpu";
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
    close: async () => executor?.close(),
  };
}

/** Errors of an engine that does not take kernels, or that gives no memory. */
const LACKING = new Set(["CompileError", "LinkError", "RangeError"]);

/** @returns undefined if what kernels need is not there */
export async function unlessLacking<T>(made: Promise<T>): Promise<T | undefined> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof ExecutionMemoryError || LACKING.has((error as Error).name)) return undefined;
    throw error;
  }
}
