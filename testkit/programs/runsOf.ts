import { executeReference } from "../../src/executor/reference.ts";
import { executeItems, executeRun } from "../../src/runs/executeRun.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import { MissingItemsError, type RunExecution } from "../../src/dispute/run/runExecution.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { runInputBytes } from "./runProgram.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** The position of a run's lie: an element in a step's tensor. All later values follow from the wrong element. */
export type RunLie = { item: number; step: number; element: number };

/** Executes an item by the definition, with an optional lie. The last input, the index, identifies the item. */
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

/** An execution of {@link runProgram}, and the function that executes single items again. */
export type OwnRun = { run: RunExecution; execute: Execute };

/** Executes a run of the program, with or without a lie. */
export async function runOf(program: KnownProgram, items: number, lie?: RunLie, firstItem = 0): Promise<OwnRun> {
  const inputs = new RunInputs(program.model.program.inputs, { items, firstItem }, runInputBytes(items));
  const execute = executionOf(lie, firstItem);
  return { run: await executeRun(program, inputs, execute), execute };
}

/** Returns an action's result. When the action asks for items, the function executes the items again. */
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
