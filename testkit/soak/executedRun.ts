import type { MerkleList } from "../../src/merkle/list.ts";
import { executeReference } from "../../src/executor/reference.ts";
import type { Execution, KnownProgram } from "../../src/player/execution.ts";
import { carriedFrom, RunExecution } from "../../src/player/runExecution.ts";
import { rootsOfTraces } from "../../src/player/runRoots.ts";
import type { RunInputs } from "../../src/trace/runInputs.ts";
import { Trace } from "../../src/trace/trace.ts";

/** A program with the inputs of a job. */
type Job = { known: KnownProgram; inputs: RunInputs };

/** The tensors of an item, right or wrong, one for each step. @param inputs As its run has them. */
export type TensorsOf = (item: number, inputs: readonly Uint8Array[]) => readonly Uint8Array[];

/** An execution of a job that holds all its items. @param tensorsOf Without it, what the definition gives. */
export function executedRun(
  { known, inputs }: Job,
  tensorsOf: TensorsOf = (_, given) => executeReference(known.model, given),
): RunExecution {
  const executions: Execution[] = [];
  for (let item = 0; item < inputs.length.items; item++) {
    const before = executions.at(-1);
    const own = inputs.of(item, before === undefined ? undefined : carriedFrom(before));
    executions.push({ ...known, inputs: own, trace: new Trace(known.model.program, tensorsOf(item, own)) });
  }
  return heldRun({ known, inputs }, executions);
}

/** A run that holds all these executions. @param traces The list of their trace roots; a liar may have another one. */
export function heldRun({ known, inputs }: Job, executions: readonly Execution[], traces?: MerkleList): RunExecution {
  const own = rootsOfTraces(
    known.model.program,
    executions.map(({ trace }) => trace),
  );
  const roots = { ...own, ...(traces && { traces }) };
  const run = new RunExecution(known, inputs, roots, { last: executions.at(-1) });
  executions.forEach((execution, item) => run.hold(item, execution));
  return run;
}

/** The executions of all items of such a run. */
export const itemsOf = (run: RunExecution): Execution[] =>
  Array.from({ length: run.inputs.length.items }, (_, item) => run.item(item));
