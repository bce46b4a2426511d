/**
 * A language model in LLaMA's shape, in the form written by onnxruntime's generator tools: weights with four bits,
 * drawn from seeds.
 */
import { DType } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel, type AttributeValue, type IoSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** Sizes; `width` and `hidden` are block multiples, and `width / heads` is even. */
export type LlamaShape = {
  vocabulary: number;
  width: number;
  layers: number;
  heads: number;
  /** Heads of keys and values, each shared by `heads / kvHeads` heads of the query. */
  kvHeads: number;
  /** Width of the feed-forward blocks' hidden layer. */
  hidden: number;
  /** The most tokens of a text, past ones included. */
  positions: number;
  /** Whether blocks have zero points of their own; without them it is 8. */
  zeroPoints?: boolean;
  /** Whether the words' embeddings have four bits too; otherwise they are float32. */
  packedTable?: boolean;
  /** Bits of a weight in products: 4, or 8. */
  bits?: 4 | 8;
};

/** 125 million parameters in 161 MB. */
export const LLAMA_100M: LlamaShape = {
  vocabulary: 32_000,
  width: 768,
  layers: 12,
  heads: 12,
  kvHeads: 4,
  hidden: 2048,
  positions: 2048,
};

/** The same in a size that takes no time. */
export const LLAMA_TINY: LlamaShape = {
  vocabulary: 96,
  width: 64,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  hidden: 96,
  positions: 32,
};

/** Weights that share a scale and a zero point. */
const BLOCK = 32;
/** The standard deviation for uniform numbers with so many bits. */
const deviationOf = (bits: number): number => Math.sqrt((4 ** bits - 1) / 12);

const MICROSOFT = "com.microsoft";

/** Returns the number of a model's weights, normalisations included. */
export function parameterCount({ vocabulary, width, layers, heads, kvHeads, hidden }: LlamaShape): number {
  const attention = 2 * width * (width + (kvHeads * width) / heads);
  return 2 * vocabulary * width + layers * (attention + 3 * width * hidden + 2 * width) + width;
}

class Decoder extends GraphBuilder {
  readonly #prng: Prng;
  readonly #shape: LlamaShape;

  constructor(shape: LlamaShape, seed: number) {
    super();
    this.#shape = shape;
    this.#prng = new Prng(seed);
  }

  /** A node of com.microsoft. @returns the names of its outputs */
  microsoft(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>>,
    outputs: readonly string[] = [`${op.toLowerCase()}_${this.nodes.length}`],
  ): readonly string[] {
    this.nodes.push({ op, inputs, outputs, attributes, domain: MICROSOFT });
    return outputs;
  }

  /** Random bytes. */
  #bytes(shape: readonly number[]): TensorData {
    const count = elementCount(shape);
    const words = new Uint32Array(Math.ceil(count / 4));
    for (let k = 0; k < words.length; k++) words[k] = this.#prng.uint32();
    return { dtype: DType.uint8, shape, bytes: new Uint8Array(words.buffer, 0, count) };
  }

  /** Numbers in centre - spread .. centre + spread. */
  #floats(shape: readonly number[], centre: number, spread: number): TensorData {
    const values = new Float32Array(elementCount(shape));
    for (let k = 0; k < values.length; k++) values[k] = centre + spread * (this.#prng.uint32() / 2 ** 31 - 1);
    return { dtype: DType.float32, shape, bytes: new Uint8Array(values.buffer) };
  }

  /**
   * Adds numbers with a few bits, in blocks along the columns.
   * @param deviation standard deviation of the decoded numbers
   * @param bits of a number
   * @returns the names for the bytes, the scales, and any zero points
   */
  packed(
    rows: number,
    columns: number,
    data: readonly number[],
    deviation: number,
    bits = 4,
  ): [string, string, ...string[]] {
    const blocks = columns / BLOCK;
    const middle = deviation / deviationOf(bits);
    const bytes = this.constant(this.#bytes(data));
    const scales = this.constant(this.#floats([rows, blocks], middle, middle / 2));
    if (this.#shape.zeroPoints !== true) return [bytes, scales];
    return [bytes, scales, this.constant(this.#bytes([rows, Math.ceil((blocks * bits) / 8)]))];
  }

  /** x W, W of four bits or eight. */
  dense(x: string, inputs: number, outputs: number, result?: string): string {
    const { bits = 4 } = this.#shape;
    const blob = [outputs, inputs / BLOCK, (BLOCK * bits) / 8];
    const weights = this.packed(outputs, inputs, blob, 1 / Math.sqrt(inputs), bits);
    const attributes = { K: inputs, N: outputs, bits, block_size: BLOCK };
    return this.microsoft("MatMulNBits", [x, ...weights], attributes, result === undefined ? undefined : [result])[0]!;
  }

  /** The rows of the words of `ids`. */
  embed(ids: string): string {
    const { vocabulary, width, packedTable } = this.#shape;
    if (packedTable !== true) return this.node("Gather", [this.constant(this.#floats([vocabulary, width], 0, 1)), ids]);
    const [table, ...rest] = this.packed(vocabulary, width, [vocabulary, width / 2], 0.5);
    const attributes = { bits: 4, block_size: BLOCK, gather_axis: 0, quantize_axis: 1 };
    return this.microsoft("GatherBlockQuantized", [table, ids, ...rest], attributes)[0]!;
  }

  #gain = (): string => this.constant(this.#floats([this.#shape.width], 1, 0.1));

  /** The first normalisation has no sum before it. */
  normalise(x: string): string {
    const attributes = { axis: -1, epsilon: { float: 1e-5 }, stash_type: 1 };
    return this.node("SimplifiedLayerNormalization", [x, this.#gain()], attributes);
  }

  /** The normalised sum, and the sum. */
  addAndNormalise(x: string, skip: string): [normalised: string, sum: string] {
    const names = ["normalised", "sum"].map((name) => `${name}_${this.nodes.length}`) as [string, string];
    const outputs = [names[0], "", "", names[1]];
    const inputs = [x, skip, this.#gain()];
    this.microsoft("SkipSimplifiedLayerNormalization", inputs, { epsilon: { float: 1e-5 } }, outputs);
    return names;
  }

  /** Cosines and sines of the rotary positions: [positions, size / 2]. */
  rotary(): [cosines: string, sines: string] {
    const { positions, width, heads } = this.#shape;
    const half = width / heads / 2;
    const table = (of: (angle: number) => number): string => {
      const values = Float32Array.from({ length: positions * half }, (_, k) =>
        of(Math.floor(k / half) * 10_000 ** (-(k % half) / half)),
      );
      const bytes = new Uint8Array(values.buffer);
      return this.constant({ dtype: DType.float32, shape: [positions, half], bytes });
    };
    return [table(Math.cos), table(Math.sin)];
  }

  /** Computes GroupQueryAttention's inputs from the mask: each text's last position, and the longest text's length. */
  lengths(): [ends: string, total: string] {
    const count = this.node("ReduceSum", ["attention_mask", this.constant(int64Tensor([1]))], { keepdims: 0 });
    const end = this.node("Sub", [count, this.constant(int64Tensor([1]))]);
    const width = this.node("Gather", [this.node("Shape", ["attention_mask"]), this.constant(int64Tensor([1], []))]);
    return [end, width].map((value) => this.node("Cast", [value], { to: DType.int32 })) as [string, string];
  }

  attention(x: string, layer: number, around: readonly string[]): string {
    const { width, heads, kvHeads } = this.#shape;
    const narrow = (width / heads) * kvHeads;
    const projected = [width, narrow, narrow].map((outputs) => this.dense(x, width, outputs));
    const past = ["key", "value"].map((part) => `past_key_values.${layer}.${part}`);
    const outputs = [`mixed_${layer}`, ...["key", "value"].map((part) => `present.${layer}.${part}`)];
    const attributes = { num_heads: heads, kv_num_heads: kvHeads, do_rotary: 1 };
    this.microsoft("GroupQueryAttention", [...projected, ...past, ...around], attributes, outputs);
    return this.dense(outputs[0]!, width, width);
  }

  /** SwiGLU. */
  feedForward(x: string): string {
    const { width, hidden } = this.#shape;
    const gate = this.dense(x, width, hidden);
    const swish = this.node("Mul", [gate, this.node("Sigmoid", [gate])]);
    return this.dense(this.node("Mul", [swish, this.dense(x, width, hidden)]), hidden, width);
  }
}

/** Past and present keys and values, [batch, heads, tokens, size]. */
const caches = ({ layers, width, heads, kvHeads }: LlamaShape, kind: string, length: string): IoSpec[] =>
  Array.from({ length: layers }, (_, layer) =>
    ["key", "value"].map((part) => ({
      name: `${kind}.${layer}.${part}`,
      dtype: DType.float32,
      shape: ["batch_size", kvHeads, length, width / heads],
    })),
  ).flat();

/**
 * The bytes of the model: input_ids, attention_mask and past keys and values to the logits of every token, float32
 * [batch, tokens, vocabulary], and the keys and values with those of the tokens. All lengths are symbols.
 */
export function llama(shape: LlamaShape = LLAMA_100M, seed = 1): Uint8Array {
  const d = new Decoder(shape, seed);
  const around = [...d.lengths(), ...d.rotary()];
  let sum = d.embed("input_ids");
  let x = d.normalise(sum);
  for (let layer = 0; layer < shape.layers; layer++) {
    [x, sum] = d.addAndNormalise(sum, d.attention(x, layer, around));
    [x, sum] = d.addAndNormalise(sum, d.feedForward(x));
  }
  d.dense(x, shape.width, shape.vocabulary, "logits");
  const logits: IoSpec = {
    name: "logits",
    dtype: DType.float32,
    shape: ["batch_size", "sequence_length", shape.vocabulary],
  };
  return buildModel({
    opset: 21,
    irVersion: 10,
    inputs: [
      { name: "input_ids", dtype: DType.int64, shape: ["batch_size", "sequence_length"] },
      { name: "attention_mask", dtype: DType.int64, shape: ["batch_size", "total_sequence_length"] },
      ...caches(shape, "past_key_values", "past_sequence_length"),
    ],
    outputs: [logits, ...caches(shape, "present", "total_sequence_length")],
    nodes: d.nodes,
    initializers: d.initializers,
  });
}

/**
 * Returns the model's inputs: `tokens` tokens of a text after `past` earlier tokens with random keys and values. With a
 * past, the caller must bind the mask at compile time, because the compiler must know the past's length.
 */
export function llamaInputs(shape: LlamaShape, tokens: number, past = 0): Map<string, TensorData> {
  const prng = new Prng(7);
  const { vocabulary, width, heads, kvHeads } = shape;
  const ids = int64Tensor(
    Array.from({ length: tokens }, () => prng.below(vocabulary)),
    [1, tokens],
  );
  const ones = int64Tensor(new Array<number>(past + tokens).fill(1), [1, past + tokens]);
  const cache = (): TensorData => {
    const dims = [1, kvHeads, past, width / heads];
    const values = Float32Array.from({ length: elementCount(dims) }, () => prng.uint32() / 2 ** 31 - 1);
    return { dtype: DType.float32, shape: dims, bytes: new Uint8Array(values.buffer) };
  };
  const names = caches(shape, "past_key_values", "").map(({ name }) => name);
  return new Map([["input_ids", ids], ["attention_mask", ones], ...names.map((name) => [name, cache()] as const)]);
}
