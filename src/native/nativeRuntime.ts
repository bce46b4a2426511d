import type { DecidingTensor } from "../model/decision/margin.ts";
import type { TensorInfo } from "../program/compiled.ts";

/** What a native runtime computes of one set of inputs. */
export type NativeResult = {
  /** The model's outputs in the program's order: canonical little-endian bytes, row-major. */
  outputs: readonly Uint8Array[];
  /** The tensors that decide, by their name in the model; floats of 16 bits are widened. */
  deciding: ReadonlyMap<string, DecidingTensor>;
};

/** What a runtime takes and gives, as the exact program has it. */
export type NativeSignature = {
  programRoot: string;
  inputs: readonly TensorInfo[];
  outputs: readonly TensorInfo[];
  deciding: readonly TensorInfo[];
};

/**
 * Computes a model as fast as it can, in floats that are rounded as it likes: onnxruntime, or any process that speaks
 * the protocol of `httpNative.ts`. Nothing of it is relied on but within a calibration.
 */
export type NativeRuntime = {
  /** What computes: program, version and machine. Another name is another arithmetic. */
  readonly name: string;
  /**
   * @param inputs In the program's order: canonical little-endian bytes, row-major.
   * @throws NativeRuntimeError
   */
  run(inputs: readonly Uint8Array[]): Promise<NativeResult>;
  close(): Promise<void>;
};
