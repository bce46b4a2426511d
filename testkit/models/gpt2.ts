/** A language model in the shape of GPT-2, with seeded weights in float32, float16 or bfloat16. */
import { DType, writeWord } from "../../src/numerics/dtype.ts";
import { numberWord } from "../../src/numerics/numbers.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel, type IoSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** Sizes; by default those of GPT-2 small at 64 tokens. */
export type Gpt2Shape = {
  layers: number;
  width: number;
  heads: number;
  tokens: number;
  vocabulary: number;
  /** The type of all floats of the model; by default float32. */
  floats?: FloatType;
  /** If given, tokens mostly follow each other in circles with so many tokens; otherwise a token follows itself. */
  circle?: number;
  /** By how much the token just read outweighs the layers: more of it, and fewer tokens leave their circle. */
  clearness?: number;
};

type FloatType = typeof DType.float32 | typeof DType.float16 | typeof DType.bfloat16;

export const GPT2_SMALL: Gpt2Shape = { layers: 12, width: 768, heads: 12, tokens: 64, vocabulary: 50_257 };

type Part = "key" | "value";

/** The least number of each type. */
const LOWEST = {
  [DType.float32]: -3.4028234663852886e38,
  [DType.float16]: -65_504,
  [DType.bfloat16]: -3.3895313892515355e38,
} as const;

/** Draws nearly normal numbers with a standard deviation of 0.02, like GPT-2's initial weights. */
function weights(shape: readonly number[], prng: Prng, centre = 0): TensorData {
  const values = new Float32Array(elementCount(shape));
  for (let k = 0; k < values.length; k++)
    values[k] = centre + 0.02 * ((prng.uint32() + prng.uint32() + prng.uint32()) / 2 ** 31 - 3);
  return { dtype: DType.float32, shape, bytes: new Uint8Array(values.buffer) };
}

/** A tensor of float32, rounded to a type of 16 bits. */
function halved({ shape, bytes }: TensorData, dtype: FloatType): TensorData {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, elementCount(shape));
  const half = new Uint8Array(2 * values.length);
  values.forEach((value, k) => writeWord(half, k, dtype, numberWord(value, dtype)));
  return { dtype, shape, bytes: half };
}

class Decoder extends GraphBuilder {
  readonly #prng: Prng;
  /** The type of all floats. */
  readonly dtype: FloatType;

  constructor(seed: number, { floats = DType.float32 }: Gpt2Shape) {
    super();
    this.#prng = new Prng(seed);
    this.dtype = floats;
  }

  override constant(tensor: TensorData): string {
    const isOther = tensor.dtype === DType.float32 && this.dtype !== DType.float32;
    return super.constant(isOther ? halved(tensor, this.dtype) : tensor);
  }

  /** The least number of the floats' type. */
  lowest = (): string => this.scalar(LOWEST[this.dtype]);

  weights = (shape: readonly number[], centre = 0): string => this.constant(weights(shape, this.#prng, centre));

  dense(x: string, inputs: number, outputs: number): string {
    return this.node("Add", [this.node("MatMul", [x, this.weights([inputs, outputs])]), this.weights([outputs])]);
  }

  normalise(x: string, width: number): string {
    return this.node("LayerNormalization", [x, this.weights([width], 1), this.weights([width])], {
      axis: -1,
      epsilon: { float: 1e-5 },
    });
  }

  /** The approximation by a tanh. */
  gelu(x: string): string {
    const cube = this.node("Mul", [this.node("Pow", [x, this.scalar(3)]), this.scalar(0.044715)]);
    const inner = this.node("Mul", [this.node("Add", [x, cube]), this.scalar(Math.sqrt(2 / Math.PI))]);
    const gate = this.node("Add", [this.node("Tanh", [inner]), this.scalar(1)]);
    return this.node("Mul", [this.node("Mul", [x, this.scalar(0.5)]), gate]);
  }

  /**
   * @param masked Hides scores for tokens that do not exist yet.
   * @param withPast Puts earlier tokens' keys (then values) before the own keys (then values).
   */
  attention(
    x: string,
    { width, heads, tokens }: Gpt2Shape,
    masked: (scores: string) => string,
    withPast: (own: string, part: Part) => string = (own) => own,
  ): string {
    const joint = this.dense(x, width, 3 * width);
    const parts = ["q", "k", "v"].map((part) => `${part}_${this.nodes.length}`);
    const sizes = this.constant(int64Tensor([width, width, width]));
    this.nodes.push({ op: "Split", inputs: [joint, sizes], outputs: parts, attributes: { axis: 2 } });
    const split = this.constant(int64Tensor([1, tokens, heads, width / heads]));
    const head = (part: string): string =>
      this.node("Transpose", [this.node("Reshape", [part, split])], { perm: [0, 2, 1, 3] });
    const [q, k, v] = [head(parts[0]!), withPast(head(parts[1]!), "key"), withPast(head(parts[2]!), "value")];
    const keys = this.node("Transpose", [k], { perm: [0, 1, 3, 2] });
    const scores = this.node("Div", [this.node("MatMul", [q, keys]), this.scalar(Math.sqrt(width / heads))]);
    const mixed = this.node("MatMul", [this.node("Softmax", [masked(scores)], { axis: -1 }), v]);
    const joined = this.node("Reshape", [
      this.node("Transpose", [mixed], { perm: [0, 2, 1, 3] }),
      this.constant(int64Tensor([1, tokens, width])),
    ]);
    return this.dense(joined, width, width);
  }
}

/** The layers over embedded tokens, and the logits. The words' embeddings are the last product's weights too. */
function addLayers(
  d: Decoder,
  shape: Gpt2Shape,
  words: string,
  embedded: string,
  attend: (x: string, layer: number) => string,
): void {
  const { layers, width } = shape;
  let x = embedded;
  for (let layer = 0; layer < layers; layer++) {
    x = d.node("Add", [x, attend(d.normalise(x, width), layer)]);
    const inner = d.gelu(d.dense(d.normalise(x, width), width, 4 * width));
    x = d.node("Add", [x, d.dense(inner, 4 * width, width)]);
  }
  const columns = d.node("Transpose", [words], { perm: [1, 0] });
  d.nodes.push({ op: "MatMul", inputs: [d.normalise(x, width), columns], outputs: ["logits"] });
}

/**
 * The bytes of the model: input_ids, int64 [1, tokens], to the logits of every token, floats [1, tokens, vocabulary].
 */
export function gpt2(shape: Gpt2Shape = GPT2_SMALL, seed = 1): Uint8Array {
  const { width, tokens, vocabulary } = shape;
  const d = new Decoder(seed, shape);
  const words = d.weights([vocabulary, width]);
  const causal = Uint8Array.from({ length: tokens * tokens }, (_, k) => Number(k % tokens <= Math.floor(k / tokens)));
  const mask = d.constant({ dtype: DType.bool, shape: [1, 1, tokens, tokens], bytes: causal });
  const embedded = d.node("Add", [d.node("Gather", [words, "input_ids"]), d.weights([1, tokens, width])]);
  const masked = (scores: string): string => d.node("Where", [mask, scores, d.lowest()]);
  addLayers(d, shape, words, embedded, (x) => d.attention(x, shape, masked));
  return buildModel({
    inputs: [{ name: "input_ids", dtype: DType.int64, shape: [1, tokens] }],
    outputs: [{ name: "logits", dtype: d.dtype, shape: [1, tokens, vocabulary] }],
    nodes: d.nodes,
    initializers: d.initializers,
  });
}

/**
 * Returns the same model, but as a decoder for a token per step, with Optimum's names. The inputs are the token, mask
 * and position, and past keys and values with a symbolic length. The outputs are the logits, and the keys and values
 * including the new token.
 * @param shape `tokens`: the maximum number of tokens in a text.
 */
export function gpt2Decoder(shape: Gpt2Shape, seed = 1): Uint8Array {
  const { layers, width, heads, tokens, vocabulary } = shape;
  const d = new Decoder(seed, shape);
  const words = d.weights([vocabulary, width]);
  const positions = d.node("Gather", [d.weights([tokens, width]), "position_ids"]);
  const { circle = 1 } = shape;
  const following = Array.from({ length: vocabulary }, (_, token) => {
    const first = token - (token % circle);
    return first + ((token - first + 1) % Math.min(circle, vocabulary - first));
  });
  // With random weights, the token just read is the most probable next token.
  const read = circle === 1 ? "input_ids" : d.node("Gather", [d.constant(int64Tensor(following)), "input_ids"]);
  const word = d.node("Gather", [words, read]);
  const { clearness = 1 } = shape;
  const clear = clearness === 1 ? word : d.node("Mul", [word, d.scalar(clearness)]);
  const embedded = d.node("Add", [clear, positions]);
  const axes = d.constant(int64Tensor([1, 2]));
  const isHere = d.node("Cast", [d.node("Unsqueeze", ["attention_mask", axes])], { to: d.dtype });
  const hidden = d.node("Mul", [d.node("Sub", [d.scalar(1), isHere]), d.lowest()]);
  const masked = (scores: string): string => d.node("Add", [scores, hidden]);
  addLayers(d, shape, words, embedded, (x, layer) =>
    d.attention(x, { ...shape, tokens: 1 }, masked, (own, part) => {
      const present = `present.${layer}.${part}`;
      const inputs = [`past_key_values.${layer}.${part}`, own];
      d.nodes.push({ op: "Concat", inputs, outputs: [present], attributes: { axis: 2 } });
      return present;
    }),
  );
  const caches = (kind: string, length: string): IoSpec[] =>
    Array.from({ length: layers }, (_, layer) =>
      ["key", "value"].map((part) => ({
        name: `${kind}.${layer}.${part}`,
        dtype: d.dtype,
        shape: [1, heads, length, width / heads],
      })),
    ).flat();
  return buildModel({
    inputs: [
      { name: "input_ids", dtype: DType.int64, shape: [1, 1] },
      { name: "attention_mask", dtype: DType.int64, shape: [1, "total_length"] },
      { name: "position_ids", dtype: DType.int64, shape: [1, 1] },
      ...caches("past_key_values", "past_length"),
    ],
    outputs: [{ name: "logits", dtype: d.dtype, shape: [1, 1, vocabulary] }, ...caches("present", "total_length")],
    nodes: d.nodes,
    initializers: d.initializers,
  });
}
