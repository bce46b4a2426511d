import { compile } from "../../src/compiler/compile.ts";
import { NOISE } from "../../src/compiler/wraps/withNoise.ts";
import { floatsOf, itemOutputs } from "../../src/examine/train/itemOutputs.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { replaceInitializers } from "../../src/model/onnx/replaceInitializers.ts";
import { prepareModel } from "../../src/compiler/wraps/modelSpec.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Prng } from "../random/prng.ts";
import { characterModel, characterWriter, type CharactersShape } from "./models.ts";
import type { Text } from "./text.ts";
import { fallingRates, type Training } from "./trainer.ts";

const BATCH = 256;
/** Normal noise of the variance of Gumbel's: its largest sum with a score is about a draw from the softmax. */
const JITTER = Math.PI / Math.sqrt(6);

const shapeOf = ({ alphabet }: Text): CharactersShape => ({
  ...{ context: 12, embedding: 24, hidden: 256 },
  characters: alphabet.length,
});

/** The characters before each place, and those at the places. */
function examples(text: Uint8Array, places: readonly number[], context: number) {
  const before = places.flatMap((at) => [...text.subarray(at - context, at)]);
  return { x: int64Tensor(before).bytes, labels: places.map((at) => text[at]!) };
}

/** Returns an Adam training for a character model, with the given number of items: text places drawn from a seed. */
export function textTraining(text: Text, items: number): Training {
  const shape = shapeOf(text);
  const prng = new Prng(12);
  const batch = () => {
    const span = text.training.length - shape.context;
    const places = Array.from({ length: BATCH }, () => shape.context + prng.below(span));
    const { x, labels } = examples(text.training, places, shape.context);
    return { x, labels: int64Tensor(labels).bytes };
  };
  const spec = { loss: "crossEntropy", optimiser: "adam" } as const;
  return { onnx: characterModel(shape, BATCH), spec, rates: fallingRates(items, 0.004), batch };
}

/**
 * Returns the mean loss per held-out character in nats, executed exactly: over the characters from `from` on that fill
 * batches.
 */
export async function heldOutLoss(
  model: Uint8Array,
  text: Text,
  from: number,
): Promise<{ loss: number; places: number }> {
  const { context, characters } = shapeOf(text);
  const items = Math.floor((text.heldOut.length - from) / BATCH);
  const places = Array.from({ length: items * BATCH }, (_, k) => from + k);
  const { x, labels } = examples(text.heldOut, places, context);
  const compiled = compile(readModel(model), { shapes: {}, run: { batch: true } });
  let [loss, at] = [0, 0];
  for await (const outputOf of itemOutputs(
    compiled,
    new RunInputs(compiled.program.inputs, { items, firstItem: 0 }, [x]),
  )) {
    const scores = floatsOf(outputOf("scores"));
    for (let row = 0; row < BATCH; row++) {
      const own = scores.subarray(row * characters, (row + 1) * characters);
      const max = Math.max(...own);
      const sum = own.reduce((all, score) => all + Math.exp(score - max), 0);
      loss += Math.log(sum) + max - own[labels[at++]!]!;
    }
  }
  return { loss: loss / places.length, places: places.length };
}

/**
 * Writes a text by the model in a run, after a beginning.
 * @param seed Another seed gives another text.
 */
export async function writeText(
  model: Uint8Array,
  text: Text,
  beginning: string,
  { items, seed }: { items: number; seed: number },
): Promise<string> {
  const shape = shapeOf(text);
  const { initializers } = readModel(model).graph;
  const writer = replaceInitializers(characterWriter(shape), initializers);
  const run = { carried: { context: "context_next" }, eachOutputs: ["token"], lastOutputs: ["context_next"] };
  const prepared = prepareModel(readModel(writer), { bind: {}, uint8: [], noise: { jitter: JITTER }, run });
  const compiled = compile(prepared.model, { shapes: {}, run: prepared.run });
  const context = [...beginning].slice(-shape.context).map((character) => text.alphabet.indexOf(character));
  const given: Record<string, Uint8Array> = {
    context: int64Tensor(context).bytes,
    jitter: new Uint8Array(4 * shape.characters),
    [NOISE.seed]: int64Tensor([seed]).bytes,
    [NOISE.index]: new Uint8Array(0),
  };
  const bytes = compiled.inputs.map(({ name }) => given[name]!);
  let written = beginning;
  for await (const outputOf of itemOutputs(
    compiled,
    new RunInputs(compiled.program.inputs, { items, firstItem: 0 }, bytes),
  ))
    written += text.alphabet[Number(new BigInt64Array(outputOf("token").buffer)[0]!)]!;
  return written;
}
