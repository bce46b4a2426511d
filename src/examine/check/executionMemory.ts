import type { NodeRefusal } from "../../compiler/survey.ts";
import { executionBytes } from "../../executor/createExecutor.ts";
import { ExecutionMemoryError } from "../../executor/errors.ts";
import type { CompiledModel } from "../../program/compiled.ts";

/** The bytes of an execution, or why there can be none. */
export function executionMemory(model: CompiledModel): number | NodeRefusal {
  try {
    return executionBytes(model);
  } catch (error) {
    if (!(error instanceof ExecutionMemoryError)) throw error;
    return { node: "", operator: "", code: error.code, reason: error.message };
  }
}
