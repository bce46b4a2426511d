/** Models for counting decisions, with job-like inputs. */
import { drawText, turned } from "../../../src/deploy/demo/picture.ts";
import type { InputRange } from "../../../src/native/inputRange.ts";
import type { InputNumbers } from "../../../src/native/drawnInputs.ts";
import { PADDLE_OCR_LINE } from "../../../src/model/onnx/preprocess.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import type { Prng } from "../../../src/base/prng.ts";
import { catalogued } from "../../../testkit/models/catalogue.ts";
import { gpt2 } from "../../../testkit/models/gpt2.ts";
import { MINI_LM, miniLm } from "../../../testkit/models/miniLm.ts";
import { openBoth, type OpenedModel } from "../../../testkit/native/openedModel.ts";
import type { FirstLayer } from "./cancelling.ts";

/** A model decided by the place of the largest value in the first output. */
export type Subject = {
  name: string;
  open: () => Promise<OpenedModel>;
  /** The range for inputs without a useful usual range. */
  ranges: Readonly<Record<string, Pick<InputRange, "low" | "high">>>;
  /** Draws job-like inputs, in the program's order. */
  real: (prng: Prng) => InputNumbers;
  /** For a model with a single input that goes into dense sums. */
  firstLayer?: () => FirstLayer;
};

const CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ";
const [WIDTH, HEIGHT] = [192, 48];
const CLASSES = 6;
const FRAMES = { count: 34, features: 96 };
const DECODER = { layers: 4, width: 128, heads: 4, tokens: 16, vocabulary: 4_096 };

const unit = (prng: Prng): number => prng.uint32() / 2 ** 32;

const decided = (
  bytes: Uint8Array,
  shapes: Record<string, readonly number[]>,
  preparation: Parameters<typeof openBoth>[1] = {},
): Promise<OpenedModel> => {
  const output = readModel(bytes).graph.outputs[0]!.name;
  return openBoth(bytes, { ...preparation, decide: { [output]: { kind: "argmax" } } }, shapes);
};

/** A line of random text as bytes, every second time upside down, with some noise. */
function line(prng: Prng): number[] {
  const text = Array.from({ length: 2 + prng.below(10) }, () => CHARACTERS[prng.below(CHARACTERS.length)]!).join("");
  const drawn = drawText(text, WIDTH, HEIGHT, 1.5 + 2.5 * unit(prng));
  const { pixels } = prng.below(2) === 0 ? drawn : turned(drawn);
  const noise = prng.below(60);
  return Array.from(pixels, (value) => Math.min(255, Math.max(0, value + prng.below(2 * noise + 1) - noise)));
}

/** The same as the model itself takes it: channels first, from -1 to 1. */
function planes(prng: Prng): number[] {
  const pixels = line(prng);
  const area = WIDTH * HEIGHT;
  return Array.from({ length: 3 * area }, (_, k) => (pixels[3 * (k % area) + Math.floor(k / area)]! / 255 - 0.5) / 0.5);
}

/** Features of sound: each goes up and down from frame to frame. */
function features(prng: Prng): number[] {
  const { count, features: width } = FRAMES;
  const at = Array.from({ length: width }, () => 8 * unit(prng) - 4);
  return Array.from({ length: count }, () =>
    at.map((value, i) => (at[i] = Math.min(8, Math.max(-8, value + 2 * unit(prng) - 1)))),
  ).flat();
}

/** Tokens, and a mask that leaves the padding out. */
function sentence(prng: Prng): InputNumbers {
  const { tokens, vocabulary } = MINI_LM;
  const words = 1 + prng.below(tokens);
  const ids = Float64Array.from({ length: tokens }, (_, i) => (i < words ? prng.below(vocabulary) : 0));
  return [ids, ids.map((_, i) => Number(i < words))];
}

const catalogue = (name: string) => catalogued(name).bytes();

/** A model for pictures in bytes or in floats. */
const direction = (name: string, isBytes: boolean): Subject => ({
  name,
  open: () =>
    isBytes
      ? decided(catalogue("ppocr2_cls"), { x: [1, HEIGHT, WIDTH, 3] }, { uint8: [PADDLE_OCR_LINE] })
      : decided(catalogue("ppocr2_cls"), { x: [1, 3, HEIGHT, WIDTH] }),
  ranges: {},
  real: (prng) => [Float64Array.from(isBytes ? line(prng) : planes(prng))],
});

export const SUBJECTS: readonly Subject[] = [
  direction("ppocr2_cls", true),
  direction("ppocr2_cls_floats", false),
  {
    name: "oww_timer",
    open: () => decided(catalogue("oww_timer"), {}),
    ranges: { "onnx::Flatten_0": { low: -8, high: 8 } },
    real: (prng) => [Float64Array.from(features(prng))],
    firstLayer: () => {
      const { bytes, shape } = readModel(catalogue("oww_timer")).graph.initializers.get("model.1.weight")!;
      return { weights: new Float32Array(Uint8Array.from(bytes).buffer), sums: shape[0]! };
    },
  },
  {
    name: "minilm_head",
    open: () => decided(miniLm({ classes: CLASSES }), {}),
    ranges: { input_ids: { low: 0, high: MINI_LM.vocabulary - 1 }, attention_mask: { low: 0, high: 1 } },
    real: sentence,
  },
  {
    name: "gpt2_tokens",
    open: () => decided(gpt2(DECODER), {}),
    ranges: { input_ids: { low: 0, high: DECODER.vocabulary - 1 } },
    real: (prng) => [Float64Array.from({ length: DECODER.tokens }, () => prng.below(DECODER.vocabulary))],
  },
];
