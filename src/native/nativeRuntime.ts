import type { DecidingTensor } from "../model/decision/margin.ts";
import type { TensorInfo } from "../program/compiled.ts";

/** A native runtime's result for a single set of inputs. */
export type NativeResult = {
  /** The model's outputs in the program's order: canonical little-endian bytes, row-major. */
  outputs: readonly Uint8Array[];
  /** The tensors that decide, by their name in the model; floats of 16 bits are widened. */
  deciding: ReadonlyMap<string, DecidingTensor>;
};

/** A runtime's inputs and outputs, as defined by the exact program. */
export type NativeSignature = {
  programRoot: string;
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
  deciding: readonly TensorInfo[];
};

/**
 * Computes a model as fast as possible, with floats rounded at the runtime's choice: onnxruntime, or any process that
 * speaks the protocol in `httpNative.ts`. Its results may be relied on only within a calibration.
 */
export type NativeRuntime = {
  /** The name of the computing program, version and machine. A different name means different arithmetic. */
  readonly name: string;
  /**
   * @param inputs In the program's order: canonical little-endian bytes, row-major.
   * @throws NativeRuntimeError
   */
  run(inputs: readonly Uint8Array[]): Promise<NativeResult>;
  close(): Promise<void>;
};
