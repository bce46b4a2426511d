import type { ClaimForm } from "../../chain/market/claimForm.ts";
import { executeRun, itemOf } from "../../runs/executeRun.ts";
import { outputAt, type RunExecution } from "../../dispute/run/runExecution.ts";
import { RunInputs } from "../../program/trace/runInputs.ts";
import type { Batch, Part } from "./batch.ts";
import type { Execute } from "../../runs/execute.ts";

/** Executes a part exactly, here. @param form Of the claim that it is compared with. */
export function executePart({ program }: Batch, part: Part, execute: Execute, form: ClaimForm): Promise<RunExecution> {
  const { items, firstItem, inputs } = part;
  const run = new RunInputs(program.model.program.inputs, { items, firstItem }, inputs);
  return executeRun(program, run, execute, { form });
}

/** The outputs of an item of a part that was executed here. @param outputs Their numbers. */
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
