import type * as ort from "onnxruntime-node";
import { decidedFile } from "../../../../src/model/decision/decidedFile.ts";
import { CONSTRUCTORS } from "../../../../src/executor/arrays.ts";
import { createExecutor } from "../../../../src/executor/createExecutor.ts";
import { onnxruntime } from "../../../../src/executor/engine/binding.ts";
import type { Box } from "../../../../src/native/inputRange.ts";
import type { InputNumbers } from "../../../../src/native/drawnInputs.ts";
import { DType, dtypeName } from "../../../../src/numerics/dtype.ts";
import { readModel } from "../../../../src/model/onnx/readModel.ts";
import { int64Tensor } from "../../../../src/model/onnx/tensorData.ts";
import { llama } from "../../../../testkit/models/llama.ts";
import { MINI_LM, miniLm, sentence } from "../../../../testkit/models/miniLm.ts";
import { openBoth, type OpenedModel } from "../../../../testkit/native/openedModel.ts";
import { openDecoder } from "../../../../testkit/native/openedDecoder.ts";
import { MODELS, type Subject } from "../models.ts";

/** A model of which native answers are measured. */
export type NativeSubject = {
  opened: OpenedModel;
  /** The inputs that are timed. */
  given: readonly Uint8Array[];
  /** Inputs executed both ways: of them come the calibration, and shares. */
  calibrated: { random: number; search: number };
  drawn: number;
  /** The box for measured inputs and for drawn inputs. */
  box: Box;
  /** Returns true for drawn inputs within the model's purpose. */
  isUsual: (inputs: InputNumbers) => boolean;
  /** The same decision by plain onnxruntime with default options on one thread, like any user's. */
  plain: () => Promise<unknown>;
  exact: () => Promise<unknown>;
  close: () => Promise<void>;
};

const OPTIONS = { intraOpNumThreads: 1, logSeverityLevel: 3 } as const;
const MANY = { calibrated: { random: 40, search: 40 }, drawn: 200 };
const FEW = { calibrated: { random: 6, search: 6 }, drawn: 12 };
const CLASSES = 6;
const DECODER = { vocabulary: 8_000, width: 256, layers: 6, heads: 8, kvHeads: 4, hidden: 704, positions: 128 };
const [PROMPT, GENERATED] = [16, 64];
/** The item with the prompt's last token chooses the first new token. */
const ITEMS = PROMPT + GENERATED - 1;

const tensorOf = (dtype: DType, bytes: Uint8Array, shape: readonly number[]): ort.Tensor => {
  const { buffer, byteOffset, byteLength } = Uint8Array.from(bytes);
  const make = CONSTRUCTORS[dtype];
  const array = new make(buffer, byteOffset, byteLength / make.BYTES_PER_ELEMENT);
  return new (onnxruntime().Tensor)(dtypeName(dtype) as ort.Tensor.Type, array as never, [...shape]);
};

/** A model with a single float output, decided by an argmax over the last axis. */
async function decided(
  { bytes, inputs }: Subject,
  ranges: Record<string, number> = {},
  isUsual: NativeSubject["isUsual"] = () => true,
): Promise<NativeSubject> {
  const own = readModel(bytes);
  const decide = { [own.graph.outputs[0]!.name]: { kind: "argmax" } } as const;
  const shapes = Object.fromEntries([...inputs].map(([name, { shape }]) => [name, shape]));
  const opened = await openBoth(bytes, { decide }, shapes);
  const infos = opened.compiled.inputs;
  const given = infos.map(({ name }) => inputs.get(name)!.bytes);
  const session = await onnxruntime().InferenceSession.create(decidedFile(bytes, own, decide), OPTIONS);
  const wanted = opened.compiled.outputs.map(({ name }) => name);
  const executor = await createExecutor(opened.compiled, { threads: 1 });
  return {
    ...MANY,
    opened,
    given,
    isUsual,
    box: opened.box.map((range) => (range.name in ranges ? { ...range, low: 0, high: ranges[range.name]! } : range)),
    plain: () => {
      const feeds = infos.map(({ name, dtype, shape }, i) => [name, tensorOf(dtype, given[i]!, shape)] as const);
      return session.run(Object.fromEntries(feeds), wanted);
    },
    exact: () => executor.run(given, { keep: () => false, trees: new Map() }),
    close: async () => void (await Promise.all([session.release(), executor.close(), opened.close()])),
  };
}

/** A decoder with four-bit weights, generating 64 tokens from a prompt of 16 tokens. */
async function decoder(): Promise<NativeSubject> {
  const file = llama(DECODER);
  const opened = await openDecoder(file, { slots: ITEMS, greedy: true });
  const prompt = Array.from({ length: PROMPT }, (_, i) => (i * 7919 + 101) % DECODER.vocabulary);
  const padded = [...prompt, ...new Array<number>(ITEMS - PROMPT).fill(0)];
  const given = [padded, [PROMPT], [ITEMS - 1]].map((values) => int64Tensor(values).bytes);
  const session = await onnxruntime().InferenceSession.create(file, OPTIONS);
  const { measured } = opened.subject;
  return {
    ...FEW,
    opened,
    given,
    isUsual: () => true,
    box: measured(opened.box).map((range) => (range.name === "prompt_length" ? { ...range, high: PROMPT } : range)),
    plain: () => plainText(session, prompt),
    exact: () => opened.exact.run(given),
    close: async () => void (await Promise.all([session.release(), opened.close()])),
  };
}

/** A loop over a decoder in plain onnxruntime: the prompt in one pass, then the most probable token again and again. */
async function plainText(session: ort.InferenceSession, prompt: readonly number[]): Promise<number[]> {
  const { layers, width, heads, kvHeads, vocabulary } = DECODER;
  const names = Array.from({ length: layers }, (_, k) => [`${k}.key`, `${k}.value`]).flat();
  const row = (values: readonly number[]): ort.Tensor =>
    tensorOf(DType.int64, int64Tensor(values).bytes, [1, values.length]);
  const empty = tensorOf(DType.float32, new Uint8Array(), [1, kvHeads, 0, width / heads]);
  let past = Object.fromEntries(names.map((name) => [`past_key_values.${name}`, empty]));
  let given = prompt;
  const tokens: number[] = [];
  while (tokens.length < GENERATED) {
    const mask = row(new Array<number>(prompt.length + tokens.length).fill(1));
    const results = await session.run({ ...past, input_ids: row(given), attention_mask: mask });
    const logits = (results.logits!.data as Float32Array).subarray(-vocabulary);
    let best = 0;
    for (let k = 1; k < vocabulary; k++) if (logits[k]! > logits[best]!) best = k;
    tokens.push(best);
    given = [best];
    past = Object.fromEntries(names.map((name) => [`past_key_values.${name}`, results[`present.${name}`]!]));
  }
  return tokens;
}

/** The models, by name, in the order in which they are measured. */
export const NATIVE_SUBJECTS: Readonly<Record<string, () => Promise<NativeSubject>>> = {
  ppocr2_cls: () => decided(MODELS.ppocr2_cls!.load()),
  ppocr4_rec: () => decided(MODELS.ppocr4_rec!.load()),
  minilm_head: () =>
    decided(
      { bytes: miniLm({ classes: CLASSES }), inputs: sentence(MINI_LM) },
      { input_ids: MINI_LM.vocabulary - 1, attention_mask: 1 },
      // A mask without a shown token belongs to no sentence: the softmax over nothing gives no number.
      ([, mask]) => mask!.includes(1),
    ),
  [`decoder_${GENERATED}_tokens`]: decoder,
};
