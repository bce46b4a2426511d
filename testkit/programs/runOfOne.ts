import { ONE_ITEM } from "../../src/program/run.ts";
import type { Execution } from "../../src/player/execution.ts";
import type { ClaimForm } from "../../src/market/form.ts";
import { RunExecution } from "../../src/player/runExecution.ts";
import { rootsOfTraces } from "../../src/player/runRoots.ts";
import { RunInputs } from "../../src/trace/runInputs.ts";

/** The run whose only item is an execution. */
export function runOfOne({ inputs, trace, ...program }: Execution, form: ClaimForm = "trace"): RunExecution {
  const runInputs = new RunInputs(program.model.program.inputs, ONE_ITEM, inputs);
  const roots = rootsOfTraces(program.model.program, [trace]);
  return new RunExecution(program, runInputs, roots, { last: { ...program, inputs, trace }, form });
}
