/** A sentence encoder in the shape of MiniLM, with seeded weights: float32 or dynamically quantised to 8 bits. */
import { DType } from "../../src/numerics/dtype.ts";
import { elementCount, type TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { GraphBuilder } from "../onnx/graphBuilder.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

/** Sizes; by default all-MiniLM-L6-v2's sizes at 128 tokens. */
export type MiniLmShape = {
  layers: number;
  width: number;
  heads: number;
  tokens: number;
  /** Width of the feed-forward blocks' hidden layer. */
  hidden: number;
  vocabulary: number;
};

export const MINI_LM: MiniLmShape = { layers: 6, width: 384, heads: 12, tokens: 128, hidden: 1536, vocabulary: 30_522 };

class Encoder extends GraphBuilder {
  readonly #prng: Prng;
  readonly #quantised: boolean;

  constructor(quantised: boolean, seed: number) {
    super();
    this.#quantised = quantised;
    this.#prng = new Prng(seed);
  }

  /** A number in -1 .. 1. */
  #next(): number {
    return this.#prng.uint32() / 2 ** 31 - 1;
  }

  /** Numbers in centre - spread .. centre + spread. */
  weights(shape: readonly number[], spread: number, centre = 0): string {
    const values = Array.from({ length: elementCount(shape) }, () => centre + spread * this.#next());
    return this.constant(floatTensor(values, shape));
  }

  /** x W + b; quantised: x to uint8 at run time, W as uint8 around 128, the integer product rescaled. */
  dense(x: string, inputs: number, outputs: number): string {
    const spread = Math.sqrt(3 / inputs);
    const bias = this.weights([outputs], 0.05);
    if (!this.#quantised) {
      return this.node("Add", [this.node("MatMul", [x, this.weights([inputs, outputs], spread)]), bias]);
    }
    const bytes = Uint8Array.from({ length: inputs * outputs }, () => 128 + Math.round(127 * this.#next()));
    const weight = this.constant({ dtype: DType.uint8, shape: [inputs, outputs], bytes });
    const middle = this.constant({ dtype: DType.uint8, shape: [], bytes: Uint8Array.of(128) });
    const names = ["q", "s", "z"].map((part) => `${part}_${this.nodes.length}`);
    this.nodes.push({ op: "DynamicQuantizeLinear", inputs: [x], outputs: names });
    const [q, s, z] = names as [string, string, string];
    const product = this.node("MatMulInteger", [q, weight, z, middle]);
    const scale = this.node("Mul", [s, this.scalar(spread / 127)]);
    return this.node("Add", [this.node("Mul", [this.node("Cast", [product], { to: DType.float32 }), scale]), bias]);
  }

  normalise(x: string, width: number): string {
    const [gain, shift] = [this.weights([width], 0.1, 1), this.weights([width], 0.1)];
    return this.node("LayerNormalization", [x, gain, shift], { axis: -1, epsilon: { float: 1e-12 } });
  }

  gelu(x: string): string {
    const inner = this.node("Erf", [this.node("Div", [x, this.scalar(Math.SQRT2)])]);
    const product = this.node("Mul", [x, this.node("Add", [inner, this.scalar(1)])]);
    return this.node("Mul", [product, this.scalar(0.5)]);
  }

  attention(x: string, mask: string, { width, heads, tokens }: MiniLmShape): string {
    const split = this.constant(int64Tensor([1, tokens, heads, width / heads]));
    const head = (perm: readonly number[]): string =>
      this.node("Transpose", [this.node("Reshape", [this.dense(x, width, width), split])], { perm });
    const [q, k, v] = [head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])];
    const scores = this.node("Div", [this.node("MatMul", [q, k]), this.scalar(Math.sqrt(width / heads))]);
    const weights = this.node("Softmax", [this.node("Add", [scores, mask])], { axis: -1 });
    const mixed = this.node("Transpose", [this.node("MatMul", [weights, v])], { perm: [0, 2, 1, 3] });
    const joined = this.node("Reshape", [mixed, this.constant(int64Tensor([1, tokens, width]))]);
    return this.dense(joined, width, width);
  }
}

/**
 * The bytes of the model: input_ids and attention_mask, int64 [1, tokens], to the mean of the hidden states of the
 * tokens that the mask keeps, float32 [1, width]; with `classes` to their logits instead, float32 [1, classes].
 */
export function miniLm(
  options: { shape?: MiniLmShape; quantised?: boolean; seed?: number; classes?: number } = {},
): Uint8Array {
  const shape = options.shape ?? MINI_LM;
  const { layers, width, tokens, hidden, vocabulary } = shape;
  const e = new Encoder(options.quantised ?? false, options.seed ?? 1);
  const words = e.node("Gather", [e.weights([vocabulary, width], 0.05), "input_ids"]);
  let x = e.normalise(e.node("Add", [words, e.weights([1, tokens, width], 0.05)]), width);
  const kept = e.node("Cast", ["attention_mask"], { to: DType.float32 });
  const wide = e.node("Unsqueeze", [kept, e.constant(int64Tensor([1, 2]))]);
  const mask = e.node("Mul", [e.node("Sub", [e.scalar(1), wide]), e.scalar(-10_000)]);
  for (let layer = 0; layer < layers; layer++) {
    x = e.normalise(e.node("Add", [x, e.attention(x, mask, shape)]), width);
    const inner = e.gelu(e.dense(x, width, hidden));
    x = e.normalise(e.node("Add", [x, e.dense(inner, hidden, width)]), width);
  }
  const column = e.node("Unsqueeze", [kept, e.constant(int64Tensor([2]))]);
  const axes = e.constant(int64Tensor([1]));
  const sum = e.node("ReduceSum", [e.node("Mul", [x, column]), axes], { keepdims: 0 });
  const count = e.node("ReduceSum", [column, axes], { keepdims: 0 });
  const { classes } = options;
  if (classes === undefined) e.nodes.push({ op: "Div", inputs: [sum, count], outputs: ["embedding"] });
  else {
    const logits = e.dense(e.node("Div", [sum, count]), width, classes);
    e.nodes.push({ op: "Identity", inputs: [logits], outputs: ["logits"] });
  }
  return buildModel({
    inputs: ["input_ids", "attention_mask"].map((name) => ({ name, dtype: DType.int64, shape: [1, tokens] })),
    outputs: [
      classes === undefined
        ? { name: "embedding", dtype: DType.float32, shape: [1, width] }
        : { name: "logits", dtype: DType.float32, shape: [1, classes] },
    ],
    nodes: e.nodes,
    initializers: e.initializers,
  });
}

/** A sentence: words, then padding that the mask leaves out. */
export function sentence({ tokens, vocabulary }: MiniLmShape): Map<string, TensorData> {
  const words = Math.ceil(tokens * 0.75);
  const ids = Array.from({ length: tokens }, (_, i) => (i < words ? (i * 7919 + 101) % vocabulary : 0));
  const mask = ids.map((_, i) => (i < words ? 1 : 0));
  return new Map([
    ["input_ids", int64Tensor(ids, [1, tokens])],
    ["attention_mask", int64Tensor(mask, [1, tokens])],
  ]);
}
