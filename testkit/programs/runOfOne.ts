import { ONE_ITEM } from "../../src/program/run.ts";
import type { Execution } from "../../src/dispute/run/execution.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { rootsOfTraces } from "../../src/dispute/run/runRoots.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";

/** The run whose only item is an execution. */
export function runOfOne({ inputs, trace, ...program }: Execution, form: ClaimForm = "trace"): RunExecution {
  const runInputs = new RunInputs(program.model.program.inputs, ONE_ITEM, inputs);
  const roots = rootsOfTraces(program.model.program, [trace]);
  return new RunExecution(program, runInputs, roots, { last: { ...program, inputs, trace }, form });
}
