/** A language model in the shape of GPT-2, with seeded weights in float32. */
import { DType } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/onnx/model.ts";
import { int64Tensor } from "../../src/onnx/tensorData.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** Sizes; by default those of GPT-2 small at 64 tokens. */
export type Gpt2Shape = { layers: number; width: number; heads: number; tokens: number; vocabulary: number };

export const GPT2_SMALL: Gpt2Shape = { layers: 12, width: 768, heads: 12, tokens: 64, vocabulary: 50_257 };

/** About normally distributed numbers of a standard deviation of 0.02, as GPT-2 begins with. */
function weights(shape: readonly number[], prng: Prng, centre = 0): TensorData {
  const values = new Float32Array(elementCount(shape));
  for (let k = 0; k < values.length; k++)
    values[k] = centre + 0.02 * ((prng.uint32() + prng.uint32() + prng.uint32()) / 2 ** 31 - 3);
  return { dtype: DType.float32, shape, bytes: new Uint8Array(values.buffer) };
}

class Decoder extends GraphBuilder {
  readonly #prng: Prng;

  constructor(seed: number) {
    super();
    this.#prng = new Prng(seed);
  }

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

  attention(x: string, mask: string, { width, heads, tokens }: Gpt2Shape): string {
    const joint = this.dense(x, width, 3 * width);
    const parts = ["q", "k", "v"].map((part) => `${part}_${this.nodes.length}`);
    const sizes = this.constant(int64Tensor([width, width, width]));
    this.nodes.push({ op: "Split", inputs: [joint, sizes], outputs: parts, attributes: { axis: 2 } });
    const split = this.constant(int64Tensor([1, tokens, heads, width / heads]));
    const head = (part: string, perm: readonly number[]): string =>
      this.node("Transpose", [this.node("Reshape", [part, split])], { perm });
    const [q, k, v] = [head(parts[0]!, [0, 2, 1, 3]), head(parts[1]!, [0, 2, 3, 1]), head(parts[2]!, [0, 2, 1, 3])];
    const scores = this.node("Div", [this.node("MatMul", [q, k]), this.scalar(Math.sqrt(width / heads))]);
    const causal = this.node("Where", [mask, scores, this.scalar(-3.4028234663852886e38)]);
    const mixed = this.node("MatMul", [this.node("Softmax", [causal], { axis: -1 }), v]);
    const joined = this.node("Reshape", [
      this.node("Transpose", [mixed], { perm: [0, 2, 1, 3] }),
      this.constant(int64Tensor([1, tokens, width])),
    ]);
    return this.dense(joined, width, width);
  }
}

/**
 * The bytes of the model: input_ids, int64 [1, tokens], to the logits of every token, float32 [1, tokens, vocabulary].
 * The words' embeddings are the last product's weights too.
 */
export function gpt2(shape: Gpt2Shape = GPT2_SMALL, seed = 1): Uint8Array {
  const { layers, width, tokens, vocabulary } = shape;
  const d = new Decoder(seed);
  const words = d.weights([vocabulary, width]);
  const causal = Uint8Array.from({ length: tokens * tokens }, (_, k) => Number(k % tokens <= Math.floor(k / tokens)));
  const mask = d.constant({ dtype: DType.bool, shape: [1, 1, tokens, tokens], bytes: causal });
  let x = d.node("Add", [d.node("Gather", [words, "input_ids"]), d.weights([1, tokens, width])]);
  for (let layer = 0; layer < layers; layer++) {
    x = d.node("Add", [x, d.attention(d.normalise(x, width), mask, shape)]);
    const inner = d.gelu(d.dense(d.normalise(x, width), width, 4 * width));
    x = d.node("Add", [x, d.dense(inner, 4 * width, width)]);
  }
  const columns = d.node("Transpose", [words], { perm: [1, 0] });
  d.nodes.push({ op: "MatMul", inputs: [d.normalise(x, width), columns], outputs: ["logits"] });
  return buildModel({
    inputs: [{ name: "input_ids", dtype: DType.int64, shape: [1, tokens] }],
    outputs: [{ name: "logits", dtype: DType.float32, shape: [1, tokens, vocabulary] }],
    nodes: d.nodes,
    initializers: d.initializers,
  });
}
