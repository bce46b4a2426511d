import { executeReference } from "../../src/executor/reference.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { Execution, KnownProgram } from "../../src/dispute/run/execution.ts";
import { carriedFrom, RunExecution } from "../../src/dispute/run/runExecution.ts";
import { rootsOfTraces, type RunRoots } from "../../src/dispute/run/runRoots.ts";
import type { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Trace } from "../../src/program/trace/trace.ts";

/** A program with a job's inputs, and the form of claims, by default "trace". */
type Job = { known: KnownProgram; inputs: RunInputs; form?: ClaimForm };

/** Returns an item's tensors, right or wrong, one per step. @param inputs The item's inputs in the run. */
type TensorsOf = (item: number, inputs: readonly Uint8Array[]) => readonly Uint8Array[];

/** Returns an execution of a job with all items. @param tensorsOf By default, the definition's tensors. */
export function executedRun(
  { known, inputs, form = "trace" }: Job,
  tensorsOf: TensorsOf = (_, given) => executeReference(known.model, given),
): RunExecution {
  const executions: Execution[] = [];
  for (let item = 0; item < inputs.length.items; item++) {
    const before = executions.at(-1);
    const own = inputs.of(item, before === undefined ? undefined : carriedFrom(before));
    executions.push({ ...known, inputs: own, trace: new Trace(known.model.program, tensorsOf(item, own)) });
  }
  return heldRun({ known, inputs, form }, executions);
}

/**
 * Returns a run with all given executions. @param others Replacement roots for the run: a liar may have other roots.
 */
export function heldRun(
  { known, inputs, form = "trace" }: Job,
  executions: readonly Execution[],
  others: Partial<RunRoots> = {},
): RunExecution {
  const own = rootsOfTraces(
    known.model.program,
    executions.map(({ trace }) => trace),
  );
  const run = new RunExecution(known, inputs, { ...own, ...others }, { last: executions.at(-1), form });
  executions.forEach((execution, item) => run.hold(item, execution));
  return run;
}

/** Returns the executions of all items in a held run. */
export const itemsOf = (run: RunExecution): Execution[] =>
  Array.from({ length: run.inputs.length.items }, (_, item) => run.item(item));
