import { compile } from "../../src/compiler/compile.ts";
import { appendDecisions } from "../../src/model/decision/appendDecision.ts";
import { usualRange, type Box } from "../../src/native/inputRange.ts";
import { decidedProgram, type DecidedProgram } from "../../src/native/decidedProgram.ts";
import { openExactDeciding, type ExactDeciding } from "../../src/native/exactDeciding.ts";
import type { Measuring } from "../../src/native/measureErrors.ts";
import type { NativeRuntime, NativeSignature } from "../../src/native/nativeRuntime.ts";
import { openOnnxruntime } from "../../src/native/onnxruntimeNative.ts";
import type { FilePreparation } from "../../src/native/preparedFile.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { bindInputs } from "../../src/model/onnx/bindInputs.ts";
import { withImagePreprocessing } from "../../src/model/onnx/preprocess.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";

/** A model opened natively and exactly. */
export type OpenedModel = DecidedProgram &
  Pick<Measuring, "aligned"> & {
    compiled: CompiledModel;
    signature: NativeSignature;
    native: NativeRuntime;
    exact: ExactDeciding;
    /** The default range for inputs. */
    box: Box;
    close: () => Promise<void>;
  };

/** @param shapes That it is compiled for. */
export async function openBoth(
  file: Uint8Array,
  { bound = new Map(), uint8 = [], decide = {} }: Partial<FilePreparation> = {},
  shapes: Record<string, readonly number[]> = {},
): Promise<OpenedModel> {
  const own = readModel(file);
  const model = appendDecisions(uint8.reduce(withImagePreprocessing, bindInputs(own, bound)), decide);
  const compiled = compile(model, { shapes });
  const decided = decidedProgram(model, compiled);
  const exact = await openExactDeciding(model, decided.deciding, { shapes });
  const { programRoot, inputs, outputs } = compiled;
  const signature = { programRoot, inputs, outputs, deciding: exact.deciding };
  const native = await openOnnxruntime({ file, model: own, signature, bound, uint8, decide, threads: 1 });
  const close = async (): Promise<void> => {
    await native.close();
    await exact.close();
  };
  return { ...decided, compiled, signature, native, exact, box: inputs.map(usualRange), close };
}
