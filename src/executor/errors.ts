import { RefuteError } from "../errors.ts";

/** What was given to an executor does not fit the program: inputs of another number or length, a missing constant. */
export class ExecutionInputError extends RefuteError {
  readonly code = "EXECUTION_INPUT";
}

/**
 * This machine or engine does not compute as IEEE 754 says (subnormals flushed, say): its results would not be the
 * program's.
 */
export class EngineUnfitError extends RefuteError {
  readonly code = "ENGINE_UNFIT";
}

/** A program's tensors do not fit into the memory that can be addressed. */
export class ExecutionMemoryError extends RefuteError {
  readonly code = "EXECUTION_MEMORY";
}

/**
 * A worker thread failed or ended while it computed: the job's result is lost, and later ones are computed without it.
 */
export class ExecutionThreadError extends RefuteError {
  readonly code = "EXECUTION_THREAD";
  override readonly retryable = true;
}
