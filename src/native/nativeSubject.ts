import type { CompileOptions } from "../compiler/compile.ts";
import type { Model } from "../model/onnx/model.ts";
import type { CompiledModel, TensorInfo } from "../program/compiled.ts";
import type { Box, InputRange } from "./inputRange.ts";
import { decidedProgram, type DecidedProgram } from "./decidedProgram.ts";
import { openExactDeciding, type ExactDeciding } from "./exactDeciding.ts";
import type { Measuring } from "./measureErrors.ts";
import type { NativeRuntime } from "./nativeRuntime.ts";
import { openNative, type NativeFile, type NativePlace } from "./openNative.ts";

/** A program that can be executed natively: what decides it, what a runtime takes of it, and how both are opened. */
export type NativeSubject = DecidedProgram &
  Pick<Measuring, "aligned"> & {
    compiled: CompiledModel;
    inputs: readonly TensorInfo[];
    /** The largest range that an input may have; absent where any will do. */
    max?: (input: TensorInfo) => InputRange;
    /** The inputs of a box on which errors are measured. */
    measured: (box: Box) => Box;
    /** @throws the compiler's and the executor's errors */
    openExact: () => Promise<ExactDeciding>;
    /** @param deciding The tensors that decide. @throws NativeModelError, MissingPackageError, FileError */
    openNative: (deciding: readonly TensorInfo[], place: NativePlace) => Promise<NativeRuntime>;
  };

/**
 * A model whose items do not depend on each other: each is executed by itself.
 * @param model As it is compiled for the program.
 * @throws NativeModelError if it is none, or an output of it is not decided
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
