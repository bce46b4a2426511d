import { executeReference } from "../../src/executor/reference.ts";
import { executeItems, executeRun } from "../../src/runs/executeRun.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { MissingItemsError, type RunExecution } from "../../src/dispute/run/runExecution.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { runInputBytes } from "./runProgram.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** Where an execution of a run is wrong: an element of a step's tensor, from which all that follows is computed. */
export type RunLie = { item: number; step: number; element: number };

/** Executes an item by the definition, but for the lie. The item is told by its index, the last input. */
export function executionOf(lie?: RunLie, firstItem = 0): Execute {
  return (model, inputs) =>
    Promise.resolve(
      executeReference(model, inputs, {
        onStep: (step, tensor) => {
          const index = inputs.at(-1)!;
          const item = Number(new DataView(index.buffer, index.byteOffset).getBigInt64(0, true)) - firstItem;
          if (item === lie?.item && step === lie.step) tensor[4 * lie.element]! ^= 1;
        },
      }),
    );
}

/** Somebody's execution of a run of {@link runProgram}, and how it executes items again. */
export type OwnRun = { run: RunExecution; execute: Execute };

/** Executes a run of that program, with a lie or without. */
export async function runOf(program: KnownProgram, items: number, lie?: RunLie, firstItem = 0): Promise<OwnRun> {
  const inputs = new RunInputs(program.model.program.inputs, { items, firstItem }, runInputBytes(items));
  const execute = executionOf(lie, firstItem);
  return { run: await executeRun(program, inputs, execute), execute };
}

/** What an action gives, for which the items that it asks for are executed again. */
export async function withItems<T>({ run, execute }: OwnRun, action: () => T): Promise<T> {
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof MissingItemsError)) throw error;
      await executeItems(run, error.items, execute);
    }
  }
}
