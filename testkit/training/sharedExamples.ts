import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { digitsTraining } from "./digitsExample.ts";
import { perceptron, transformer } from "./models.ts";
import { readText } from "./text.ts";
import { fallingRates, type Training } from "./trainer.ts";

/** Examples per batch in all trainings below. */
export const SHARED_BATCH = 64;
const TOKENS = 16;

/** Handwritten digits for two dense layers: 784, 128, 10. */
const digitsPerceptron = (steps: number): Training => ({ ...digitsTraining(steps), onnx: perceptron(SHARED_BATCH) });

/** Moby-Dick's characters for a transformer with two layers. */
function textTransformer(steps: number): Training {
  const { training, alphabet } = readText();
  const shape = { tokens: TOKENS, characters: alphabet.length, width: 64, heads: 4, hidden: 256, layers: 2 };
  const batch = (item: number) => {
    const texts = Array.from({ length: SHARED_BATCH }, (_, k) => (item * SHARED_BATCH + k) * TOKENS);
    const from = (shift: number) => texts.flatMap((at) => [...training.subarray(at + shift, at + shift + TOKENS)]);
    return { x: int64Tensor(from(0)).bytes, labels: int64Tensor(from(1)).bytes };
  };
  const spec = { loss: "crossEntropy", optimiser: "adam" } as const;
  return { onnx: transformer(shape, SHARED_BATCH), spec, rates: fallingRates(steps, 0.004), batch };
}

/** Trainings to cut into shares, by name; each takes a number: the steps. */
export const SHARED_EXAMPLES = {
  perceptron: digitsPerceptron,
  convolutions: digitsTraining,
  transformer: textTransformer,
} as const satisfies Record<string, (steps: number) => Training>;
export type SharedExample = keyof typeof SHARED_EXAMPLES;
