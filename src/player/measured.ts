import { ExecutionInputError } from "../executor/errors.ts";
import type { Execute } from "./executeRun.ts";
import type { Meter } from "./figures.ts";
import { problemOf, type Health } from "./health.ts";

/** The same executor, which says how long executions take, and whether this machine can execute. */
export const measured =
  (execute: Execute, health: Health, meter: Meter): Execute =>
  async (...args) => {
    const start = performance.now();
    try {
      const tensors = await execute(...args);
      meter.executed((performance.now() - start) / 1_000);
      health.set("executes", undefined);
      return tensors;
    } catch (error) {
      // Inputs that do not fit are the job's fault, and anybody may post jobs.
      if (!(error instanceof ExecutionInputError)) health.set("executes", problemOf(error, "an execution failed"));
      throw error;
    }
  };
