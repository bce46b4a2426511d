import { compile } from "../../src/compiler/compile.ts";
import { floatsOf, itemOutputs } from "../../src/examine/train/itemOutputs.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { PIXELS, readDigits, type Digit } from "./digits.ts";
import { classifier } from "./models.ts";
import { fallingRates, floats, train, type Trained, type Training } from "./trainer.ts";

const BATCH = 64;
/** As many batches as are held out. */
const HELD_OUT = 16 * BATCH;

type DigitsTrained = Trained & { held: number; right: number };

/** The pictures of digits, one after the other. */
function pixelsOf(digits: readonly Digit[]): Float32Array {
  const pixels = new Float32Array(digits.length * PIXELS);
  digits.forEach((digit, k) => pixels.set(digit.pixels, k * PIXELS));
  return pixels;
}

/** A classifier of digits, trained by Adam for so many items. */
export function digitsTraining(items: number): Training {
  const { training } = readDigits(HELD_OUT);
  const batch = (item: number) => {
    const digits = Array.from({ length: BATCH }, (_, k) => training[(item * BATCH + k) % training.length]!);
    return { x: floats(pixelsOf(digits)), labels: int64Tensor(digits.map(({ label }) => label)).bytes };
  };
  const spec = { loss: "crossEntropy", optimiser: "adam" } as const;
  return { onnx: classifier(BATCH), spec, rates: fallingRates(items, 0.004), batch };
}

/** Trains the classifier, and counts its right answers about digits that it never saw. */
export async function trainDigits(items: number, note?: (text: string) => void): Promise<DigitsTrained> {
  const { heldOut } = readDigits(HELD_OUT);
  const trained = await train(digitsTraining(items), note);
  return { ...trained, held: heldOut.length, right: await rightOf(trained.model, heldOut) };
}

/** How many digits the classifier is right about, executed exactly as one batch. */
async function rightOf(model: Uint8Array, digits: readonly Digit[]): Promise<number> {
  const compiled = compile(readModel(model), { shapes: {}, run: { batch: true } });
  const inputs = new RunInputs(compiled.program.inputs, { items: digits.length / BATCH, firstItem: 0 }, [
    floats(pixelsOf(digits)),
  ]);
  let [right, at] = [0, 0];
  for await (const outputOf of itemOutputs(compiled, inputs)) {
    const scores = floatsOf(outputOf("scores"));
    for (let k = 0; k < BATCH; k++) {
      const own = scores.subarray(10 * k, 10 * k + 10);
      if (own.indexOf(Math.max(...own)) === digits[at++]!.label) right++;
    }
  }
  return right;
}
