import type { NodeRefusal } from "../../compiler/survey.ts";
import { executionBytes } from "../../executor/createExecutor.ts";
import { ExecutionMemoryError } from "../../executor/errors.ts";
import type { CompiledModel } from "../../program/compiled.ts";

/** Returns an execution's bytes, or the reason why an execution is impossible. */
export function executionMemory(model: CompiledModel): number | NodeRefusal {
  try {
    return executionBytes(model);
  } catch (error) {
    if (!(error instanceof ExecutionMemoryError)) throw error;
    return { node: "", operator: "", code: error.code, reason: error.message };
  }
}
