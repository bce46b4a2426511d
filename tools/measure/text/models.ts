/** Large decoders with seeded weights, in the form written by export tools. */
import { DType } from "../../../src/numerics/dtype.ts";
import { gpt2Decoder } from "../../../testkit/models/gpt2.ts";
import { UsageError } from "../../options.ts";
import { LLAMA_100M, LLAMA_TINY, llama, parameterCount, type LlamaShape } from "../../../testkit/models/llama.ts";

/** A decoder: the file's bytes, the width and number of layers, and a description. */
type LargeDecoder = { bytes: () => Uint8Array; width: number; layers: number; what: string };

/** The tokens that the models have positions for. */
const TOKENS = 1_024;

/** The sizes of GPT-2. */
export const GPT2 = { layers: 12, width: 768, heads: 12, tokens: TOKENS, vocabulary: 50_257 };
/** Embeddings, positions, and of each layer twelve squares of the width, biases and norms; at the end one norm. */
const gpt2Parameters = ({ layers, width, tokens, vocabulary }: typeof GPT2): number =>
  (vocabulary + tokens) * width + layers * (12 * width ** 2 + 13 * width) + 2 * width;

const millions = (count: number): string => `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} million parameters`;

/** TinyLlama's sizes, with embeddings of four bits too: 1.1 billion parameters. */
const LLAMA_1B: LlamaShape = {
  ...{ vocabulary: 32_000, width: 2_048, layers: 22, heads: 32, kvHeads: 4, hidden: 5_632, positions: 2_048 },
  packedTable: true,
};
/** The sizes for LLaMA 2 with 7 billion parameters; all 32 layers do not fit into one file. */
const LLAMA_7B: LlamaShape = {
  ...{ vocabulary: 32_000, width: 4_096, layers: 32, heads: 32, kvHeads: 32, hidden: 11_008, positions: 2_048 },
  packedTable: true,
};
/** Two layers of width 64, for software drivers. */
const LLAMA_SMALL: LlamaShape = { ...LLAMA_TINY, vocabulary: 32_000, positions: 2_048, packedTable: true };
const LLAMAS: Readonly<Record<string, LlamaShape>> = {
  ...{ tiny: LLAMA_SMALL, llama: LLAMA_100M, llama1b: LLAMA_1B, llama7b: LLAMA_7B },
};

/** @param layers Other than the model's own. */
export function largeDecoder(name: string, layers?: number): LargeDecoder {
  if (name === "gpt2" || name === "gpt2half") {
    const half = name === "gpt2half";
    const floats = half ? DType.float16 : DType.float32;
    const shape = { ...GPT2, ...(layers !== undefined && { layers }), floats };
    const what = `GPT-2's shape, ${millions(gpt2Parameters(shape))} in ${half ? "float16" : "float32"}`;
    return { bytes: () => gpt2Decoder(shape), ...shape, what };
  }
  const found = LLAMAS[name];
  if (found === undefined)
    throw new UsageError(`no decoder ${name}: gpt2, gpt2half, ${Object.keys(LLAMAS).join(", ")}`);
  const shape = { ...found, ...(layers !== undefined && { layers }) };
  const what = `LLaMA's shape, ${millions(parameterCount(shape))}, products of four bits`;
  return { bytes: () => llama(shape), ...shape, what };
}
