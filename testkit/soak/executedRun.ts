import { executeReference } from "../../src/executor/reference.ts";
import type { ClaimForm } from "../../src/chain/market/claimForm.ts";
import type { Execution, KnownProgram } from "../../src/dispute/run/execution.ts";
import { carriedFrom, RunExecution } from "../../src/dispute/run/runExecution.ts";
import { rootsOfTraces, type RunRoots } from "../../src/dispute/run/runRoots.ts";
import type { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Trace } from "../../src/program/trace/trace.ts";

/** A program with the inputs of a job, and the form of its claims: "trace" if it is left out. */
type Job = { known: KnownProgram; inputs: RunInputs; form?: ClaimForm };

/** The tensors of an item, right or wrong, one for each step. @param inputs As its run has them. */
type TensorsOf = (item: number, inputs: readonly Uint8Array[]) => readonly Uint8Array[];

/** An execution of a job that holds all its items. @param tensorsOf Without it, what the definition gives. */
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

/** A run that holds all these executions. @param others Roots of it in place of theirs: a liar may have others. */
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

/** The executions of all items of such a run. */
export const itemsOf = (run: RunExecution): Execution[] =>
  Array.from({ length: run.inputs.length.items }, (_, item) => run.item(item));
