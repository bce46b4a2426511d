/** Pictures of a line of text, every third one upside down, and a model that says which way up each is. */
import { compile } from "../../../src/compiler/compile.ts";
import { drawText, turned } from "../../../src/deploy/demo/picture.ts";
import { knownProgram, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../../src/model/onnx/preprocess.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";

export const [WIDTH, HEIGHT] = [192, 48];

/** The model's file, which takes prepared pictures. */
export const modelBytes = (): Uint8Array => catalogued("ppocr2_cls").bytes();

/** The model as a program for a batch of pixels. */
export function pictureProgram(): KnownProgram {
  const model = withImagePreprocessing(readModel(modelBytes()), PADDLE_OCR_LINE);
  return knownProgram(compile(model, { shapes: { x: [1, HEIGHT, WIDTH, 3] }, run: { batch: true } }));
}

/** The pixels of an item's picture: each item has a word of its own. */
function pixelsOf(item: number): Uint8Array {
  const letter = (place: number): string => String.fromCharCode(65 + (Math.floor(item / 26 ** place) % 26));
  const drawn = drawText(`REFUTE ${[3, 2, 1, 0].map(letter).join("")}`, WIDTH, HEIGHT, 2.5);
  return (item % 3 === 0 ? turned(drawn) : drawn).pixels;
}

/** The pictures of the first items. */
export const picturesOf = (items: number): Uint8Array[] => Array.from({ length: items }, (_, item) => pixelsOf(item));
