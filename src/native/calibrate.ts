import { decisionText } from "../model/decision/decisionText.ts";
import type { Box } from "./inputRange.ts";
import { MARGIN_FACTOR, type Calibration } from "./calibration.ts";
import { measureErrors, type MeasuredInputs } from "./measureErrors.ts";
import type { NativeSubject } from "./nativeSubject.ts";
import type { NativePlace } from "./openNative.ts";

/** The subject of a calibration, and the inputs used. */
type CalibrateOptions = MeasuredInputs & {
  subject: NativeSubject;
  /** SHA-256 of the model's file, in hexadecimal digits. */
  modelSha256: string;
  box: Box;
  place: NativePlace;
  progress?: (done: number, total: number) => void;
};

/**
 * Measures how far native and exact execution of a model lie apart.
 * @throws NativeModelError, NativeRuntimeError, CalibrationError, and the compiler's and the executor's errors
 */
export async function calibrate({ subject, box, place, ...rest }: CalibrateOptions) {
  const { inputs, outputs, aligned } = subject;
  const { programRoot, outputs: outputInfos } = subject.compiled;
  const exact = await subject.openExact();
  try {
    const { deciding } = exact;
    const native = await subject.openNative(deciding, place);
    try {
      const signature = { programRoot, inputs, outputs: outputInfos, deciding };
      const measuring = { native, exact: exact.run, signature, outputs, box: subject.measured(box), aligned };
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
