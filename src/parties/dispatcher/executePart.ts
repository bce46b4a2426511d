import type { ClaimForm } from "../../chain/market/claimForm.ts";
import { executeRun, itemOf } from "../../runs/executeRun.ts";
import { outputAt, type RunExecution } from "../../dispute/run/runExecution.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { Batch, BatchPart } from "./batch.ts";
import type { Execute } from "../../runs/execute.ts";

/**
 * Executes a part exactly on the local machine.
 * @param inputs Of the part: see `inputsOf`.
 * @param form The form of the claim to compare with.
 */
export function executePart(
  { program }: Batch,
  { items, firstItem }: BatchPart,
  inputs: readonly Uint8Array[],
  execute: Execute,
  form: ClaimForm,
): Promise<RunExecution> {
  const run = new RunInputs(program.model.program.inputs, { items, firstItem }, inputs);
  return executeRun(program, run, execute, { form });
}

/**
 * Returns an item's outputs from a locally executed part.
 * @param outputs The outputs' numbers.
 */
export async function computedOutputs(
  run: RunExecution,
  item: number,
  outputs: readonly number[],
  execute: Execute,
): Promise<Map<number, Uint8Array>> {
  const { trace } = await itemOf(run, item, execute);
  // A copy: an executor's memory is used again.
  return new Map(outputs.map((output) => [output, outputAt(run, item, trace, output)!.bytes.slice()]));
}
