import type { CompiledModel } from "../../program/compiled.ts";
import { createExecutor, type Executor, type ExecutorOptions } from "../createExecutor.ts";
import { ExecutionMemoryError } from "../errors.ts";

/**
 * Creates an executor for items and blocks. Without enough memory for all blocks, blocks of items of different runs are
 * left out first.
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
    if (!(error instanceof ExecutionMemoryError) || blocks === undefined) throw error;
    const { apart, ...others } = blocks;
    return createWithBlocks(model, options, apart && others.lengths.length > 0 ? others : undefined);
  }
}
