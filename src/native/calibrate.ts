import { decisionText } from "../decision/decisionText.ts";
import type { CompileOptions } from "../compiler/compile.ts";
import type { Model } from "../onnx/model.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { Box } from "./box.ts";
import { MARGIN_FACTOR, type Calibration } from "./calibration.ts";
import { decidedProgram } from "./decidedProgram.ts";
import { openExactDeciding } from "./exactDeciding.ts";
import { measureErrors, type MeasuredInputs } from "./measureErrors.ts";
import type { NativeSignature } from "./nativeRuntime.ts";
import { openNative, type NativeFile, type NativePlace } from "./openNative.ts";

/** What is calibrated, and on what. */
export type CalibrateOptions = MeasuredInputs & {
  file: NativeFile;
  /** SHA-256 of the file, in hexadecimal digits. */
  modelSha256: string;
  /** As it is compiled. */
  model: Model;
  compiled: CompiledModel;
  options: CompileOptions;
  box: Box;
  place: NativePlace;
  progress?: (done: number, total: number) => void;
};

/**
 * Measures how far native and exact execution of a model lie apart.
 * @throws NativeModelError, NativeRuntimeError, CalibrationError, and the compiler's and the executor's errors
 */
export async function calibrate({ file, model, compiled, options, box, place, ...rest }: CalibrateOptions) {
  const { outputs, deciding: names } = decidedProgram(model, compiled);
  const exact = await openExactDeciding(model, names, options);
  try {
    const { programRoot, inputs } = compiled;
    const signature: NativeSignature = { programRoot, inputs, outputs: compiled.outputs, deciding: exact.deciding };
    const native = await openNative(file, signature, place);
    try {
      const measuring = { native, exact: exact.run, signature, outputs, box };
      const measured = await measureErrors(measuring, rest, rest.progress);
      const { all, differing } = measured.thick(MARGIN_FACTOR);
      return {
        programRoot,
        modelSha256: rest.modelSha256,
        runtime: native.name,
        threads: "threads" in place ? place.threads : undefined,
        box,
        tensors: measured.tensors,
        outputs: outputs.map(({ name, decisions }) => ({ name, decisions: decisions.map(decisionText) })),
        inputs: measured.inputs,
        seed: rest.seed,
        differing: { native: measured.differing, thick: differing },
        thick: all,
        factor: MARGIN_FACTOR,
      } satisfies Calibration;
    } finally {
      await native.close();
    }
  } finally {
    await exact.close();
  }
}
