import { executeReference } from "../../src/executor/reference.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import type { Answer } from "../../src/program/trace/answer.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Trace } from "../../src/program/trace/trace.ts";
import { executedRun, heldRun, itemsOf } from "./executedRun.ts";
import { runInputBytes } from "../programs/runProgram.ts";
import { executionOf, type OwnRun, type RunLie } from "../programs/runsOf.ts";

const inputsOf = ({ model }: KnownProgram, items: number): RunInputs =>
  new RunInputs(model.program.inputs, { items, firstItem: 0 }, runInputBytes(items));

/**
 * Returns an execution of an answer job for a program from answerPrograms.ts, with all items, with or without a lie.
 */
export function answerOf(known: KnownProgram, items: number, lie?: RunLie): OwnRun {
  const run = executedRun({ known, inputs: inputsOf(known, items), form: "answer" }, (item, inputs) =>
    executeReference(known.model, inputs, {
      onStep: (step, tensor) => {
        if (item === lie?.item && step === lie.step) tensor[4 * lie.element]! ^= 1;
      },
    }),
  );
  return { run, execute: executionOf(lie) };
}

/** Somebody who holds such an execution and claims another answer. */
export function answering(own: OwnRun, answer: Answer): OwnRun {
  const { program: known, inputs } = own.run;
  return { ...own, run: heldRun({ known, inputs, form: "answer" }, itemsOf(own.run), { answer }) };
}

/**
 * Returns an execution whose last item has the given tensors for some steps. Later steps do not follow from the given
 * tensors.
 */
export function withLastTensors(own: OwnRun, tensors: ReadonlyMap<number, Uint8Array>): OwnRun {
  const { program: known, inputs, items } = own.run;
  const executions = itemsOf(own.run);
  const last = executions.at(-1)!;
  const all = known.model.program.steps.map((_, step) => tensors.get(step) ?? last.trace.tensor(step));
  executions[items - 1] = { ...last, trace: new Trace(known.model.program, all) };
  return { ...own, run: heldRun({ known, inputs, form: "answer" }, executions) };
}
