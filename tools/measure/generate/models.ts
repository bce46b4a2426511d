/** Large decoders with seeded weights, as export tools write them. */
import { gpt2Decoder } from "../../../testkit/models/gpt2.ts";
import { LLAMA_100M, llama, parameterCount } from "../../../testkit/models/llama.ts";

/** A decoder: its file, what goes through its layers, and what it is. */
export type LargeDecoder = { bytes: () => Uint8Array; width: number; layers: number; what: string };

/** The tokens that the models have positions for. */
export const TOKENS = 1_024;

const GPT2 = { layers: 12, width: 768, heads: 12, tokens: TOKENS, vocabulary: 50_257 };
/** Embeddings, positions, and of each layer twelve squares of the width, biases and norms; at the end one norm. */
const gpt2Parameters = ({ layers, width, tokens, vocabulary }: typeof GPT2): number =>
  (vocabulary + tokens) * width + layers * (12 * width ** 2 + 13 * width) + 2 * width;

const millions = (count: number): string => `${Math.round(count / 1e6)} million parameters`;

/** @param layers Other than the model's own, for a shorter measurement. */
export function largeDecoder(name: string, layers = 12): LargeDecoder {
  if (name === "gpt2") {
    const shape = { ...GPT2, layers };
    const what = `GPT-2's shape, ${millions(gpt2Parameters(shape))} in float32`;
    return { bytes: () => gpt2Decoder(shape), width: shape.width, layers, what };
  }
  if (name === "llama") {
    const shape = { ...LLAMA_100M, layers };
    const what = `LLaMA's shape, ${millions(parameterCount(shape))}, products of four bits`;
    return { bytes: () => llama(shape), width: shape.width, layers, what };
  }
  throw new RangeError(`no decoder ${name}: gpt2 or llama`);
}
