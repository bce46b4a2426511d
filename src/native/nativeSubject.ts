import type { CompileOptions } from "../compiler/compile.ts";
import type { Model } from "../model/onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../program/compiled.ts";
import type { Box, InputRange } from "./inputRange.ts";
import { decidedProgram, type DecidedProgram } from "./decidedProgram.ts";
import { openExactDeciding, type ExactDeciding } from "./exactDeciding.ts";
import type { Measuring } from "./measureErrors.ts";
import type { NativeRuntime } from "./nativeRuntime.ts";
import { openNative, type NativeFile, type NativePlace } from "./openNative.ts";

/** A program for native execution: its decisions, a runtime's inputs, and functions opening both executions. */
export type NativeSubject = DecidedProgram &
  Pick<Measuring, "aligned"> & {
    compiled: CompiledModel;
    inputs: readonly TensorInfo[];
    /** The largest range that an input may have; absent where any will do. */
    max?: (input: TensorInfo) => InputRange;
    /** Returns the inputs within a box on which errors are measured. */
    measured: (box: Box) => Box;
    /** @throws the compiler's and the executor's errors */
    openExact: () => Promise<ExactDeciding>;
    /** @param deciding The tensors that decide. @throws NativeModelError, MissingPackageError, FileError */
    openNative: (deciding: readonly TensorInfo[], place: NativePlace) => Promise<NativeRuntime>;
  };

/**
 * Returns the subject for a model with independent items, executed separately.
 * @param model The model compiled for the program.
 * @throws NativeModelError if items depend on each other, or an output is not decided
 */
export function itemSubject(
  file: NativeFile,
  model: Model,
  compiled: CompiledModel,
  options: CompileOptions,
): NativeSubject {
  const decided = decidedProgram(model, compiled);
  const { programRoot, inputs, outputs } = compiled;
  return {
    ...decided,
    compiled,
    inputs,
    measured: (box) => box,
    openExact: () => openExactDeciding(model, decided.deciding, options),
    openNative: (deciding, place) => openNative(file, { programRoot, inputs, outputs, deciding }, place),
  };
}
