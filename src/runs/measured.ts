import { ExecutionInputError } from "../executor/errors.ts";
import type { Meter } from "./figures.ts";
import { problemOf, type Health } from "../base/health.ts";
import { around, type Execute } from "./execute.ts";

/** The same executor, which says how long executions take, and whether this machine can execute. */
export function measured(execute: Execute, health: Health, meter: Meter): Execute {
  const timed = async <T>(action: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    try {
      const result = await action();
      meter.executed((performance.now() - start) / 1_000);
      health.set("executes", undefined);
      return result;
    } catch (error) {
      // Inputs that do not fit are the job's fault, and anybody may post jobs.
      if (!(error instanceof ExecutionInputError)) health.set("executes", problemOf(error, "an execution failed"));
      throw error;
    }
  };
  return around(execute, (action, order) => timed(() => action(order)));
}
