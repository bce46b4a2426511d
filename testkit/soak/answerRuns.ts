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

/** An execution of an answer job of one of answerPrograms.ts that holds all items, with a lie or without. */
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

/** An execution whose last item has these tensors of some steps in place of its own, and nothing that follows. */
export function withLastTensors(own: OwnRun, tensors: ReadonlyMap<number, Uint8Array>): OwnRun {
  const { program: known, inputs, items } = own.run;
  const executions = itemsOf(own.run);
  const last = executions.at(-1)!;
  const all = known.model.program.steps.map((_, step) => tensors.get(step) ?? last.trace.tensor(step));
  executions[items - 1] = { ...last, trace: new Trace(known.model.program, all) };
  return { ...own, run: heldRun({ known, inputs, form: "answer" }, executions) };
}
