import type { CompiledModel } from "../../program/compiled.ts";
import { createExecutor, type Executor, type ExecutorOptions } from "../createExecutor.ts";
import { ExecutionMemoryError } from "../errors.ts";

/**
 * Creates an executor for items and blocks; for items alone without enough memory for blocks.
 * @throws as `createExecutor`
 */
export async function createWithBlocks(
  model: CompiledModel,
  options: ExecutorOptions,
  blocks: ExecutorOptions["blocks"],
): Promise<Executor> {
  try {
    return await createExecutor(model, { ...options, ...(blocks && { blocks }) });
  } catch (error) {
    if (!(error instanceof ExecutionMemoryError)) throw error;
    return createExecutor(model, options);
  }
}
