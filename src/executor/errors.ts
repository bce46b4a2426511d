import { errorWithCode } from "../base/errors.ts";

/** The executor's arguments do not fit the program: inputs of another number or length, or a missing constant. */
export class ExecutionInputError extends errorWithCode("EXECUTION_INPUT") {}

/** This machine or engine deviates from IEEE 754, for example by flushing subnormals. Its results would be wrong. */
export class EngineUnfitError extends errorWithCode("ENGINE_UNFIT") {}

export const ENGINE_FAULT = "ENGINE_FAULT";

/**
 * The engine computed a product wrongly: no result of this process can be relied on, and none may be posted. The
 * message names the element.
 */
export class EngineFaultError extends errorWithCode(ENGINE_FAULT) {
  /** The description of the fault. */
  readonly finding: string;

  constructor(finding: string, options?: ErrorOptions) {
    super(
      `onnxruntime computes wrongly here: ${finding}; test the memory and the processor of this machine, install the ` +
        "packages again, or use another machine",
      options,
    );
    this.finding = finding;
  }
}

/** A program's tensors do not fit into the memory that can be addressed. */
export class ExecutionMemoryError extends errorWithCode("EXECUTION_MEMORY") {}

/**
 * A worker thread failed or ended during a computation. The job's result was lost. Later jobs are computed without the
 * thread.
 */
export class ExecutionThreadError extends errorWithCode("EXECUTION_THREAD", { retryable: true }) {}

/**
 * A GPU failed, was lost, ran out of memory, or computed other bits than the definition: nothing more is computed
 * there. The message names the GPU and what was found.
 */
export class ExecutionDeviceError extends errorWithCode("EXECUTION_DEVICE") {}

/** A GPU computed other bits than the definition. */
export class DeviceDifferenceError extends ExecutionDeviceError {}
