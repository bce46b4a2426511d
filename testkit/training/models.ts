/** Small models for training, with seeded float32 weights, and run steps that use the trained weights. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { Builder } from "./builder.ts";

/** A convolutional classifier of digits: x [batch, 1, 28, 28] to scores [batch, 10]. */
export function classifier(batch: number): Uint8Array {
  const b = new Builder();
  const pooled = (x: string): string =>
    b.node("MaxPool", [b.node("Relu", [x])], { kernel_shape: [2, 2], strides: [2, 2] });
  const features = pooled(b.conv(pooled(b.conv("x", 1, 8)), 8, 16));
  b.dense(b.node("Flatten", [features]), 16 * 49, 10, { gain: 1, name: "scores" });
  return b.build(
    [{ name: "x", dtype: DType.float32, shape: [batch, 1, 28, 28] }],
    [{ name: "scores", dtype: DType.float32 }],
  );
}

/** A denoiser's sizes: numbers per picture, per time, and per hidden layer. */
export type DenoiserShape = { pixels: number; times: number; hidden: number };

/** Guesses the pictures behind noisy pictures. Three hidden layers; the later two layers are added to their inputs. */
function guessed(b: Builder, x: string, t: string, { pixels, times, hidden }: DenoiserShape, name?: string): string {
  const timed = (of: string): string => b.node("Add", [of, b.dense(t, times, hidden, { gain: 1 })]);
  let inner = b.node("Relu", [timed(b.dense(x, pixels, hidden))]);
  for (let layer = 0; layer < 2; layer++)
    inner = b.node("Add", [inner, b.node("Relu", [timed(b.dense(inner, hidden, hidden, { gain: 1 }))])]);
  return b.dense(inner, hidden, pixels, { gain: 0.1, ...(name !== undefined && { name }) });
}

/** The denoiser: noisy pictures x [batch, pixels] and their times t [batch, times] to pictures. */
export function denoiser(shape: DenoiserShape, batch: number): Uint8Array {
  const b = new Builder();
  guessed(b, "x", "t", shape, "picture");
  return b.build(
    [
      { name: "x", dtype: DType.float32, shape: [batch, shape.pixels] },
      { name: "t", dtype: DType.float32, shape: [batch, shape.times] },
    ],
    [{ name: "picture", dtype: DType.float32 }],
  );
}

/** A diffusion step's factors: a row of `schedule` per step. */
export type Row = {
  /** The time's numbers. */
  times: readonly number[];
  /** The next picture's factors: for the guessed picture, the present picture, and fresh noise. */
  next: readonly [guess: number, x: number, noise: number];
};

/**
 * A step of diffusion: `latent` [batch, pixels] to `latent_next`, by the row of the schedule that `step` names. `noise`
 * [batch, pixels] is what is added.
 */
export function diffusionStep(shape: DenoiserShape, batch: number, schedule: readonly Row[]): Uint8Array {
  const b = new Builder();
  const rowOf = (values: readonly (readonly number[])[]): string =>
    b.node("Gather", [b.constant(floatTensor(values.flat(), [values.length, values[0]!.length])), "step"]);
  const scaled = (x: string, values: readonly number[]): string =>
    b.node("Mul", [x, rowOf(values.map((value) => [value]))]);
  const sizes = b.constant(int64Tensor([batch, shape.times]));
  const times = b.node("Expand", [rowOf(schedule.map((row) => row.times)), sizes]);
  const picture = guessed(b, "latent", times, shape);
  const guess = b.node("Clip", [picture, b.scalar(-1), b.scalar(1)]);
  b.named("latent_next", "Sum", [
    scaled(
      guess,
      schedule.map(({ next: [g] }) => g),
    ),
    scaled(
      "latent",
      schedule.map(({ next: [, x] }) => x),
    ),
    scaled(
      "noise",
      schedule.map(({ next: [, , z] }) => z),
    ),
  ]);
  return b.build(
    [
      { name: "latent", dtype: DType.float32, shape: [batch, shape.pixels] },
      { name: "noise", dtype: DType.float32, shape: [batch, shape.pixels] },
      { name: "step", dtype: DType.int64, shape: [1] },
    ],
    [{ name: "latent_next", dtype: DType.float32 }],
  );
}

/** A character model's sizes: `context` previous characters per guess, `characters` in total. */
export type CharactersShape = { context: number; characters: number; embedding: number; hidden: number };

/** The scores of the next character after each context. */
function characterScores(b: Builder, contexts: string, shape: CharactersShape): string {
  const { context, characters, embedding, hidden } = shape;
  const table = b.weights([characters, embedding], 1, 1);
  const embedded = b.node("Flatten", [b.node("Gather", [table, contexts])]);
  const inner = b.node("Relu", [b.dense(embedded, context * embedding, hidden)]);
  return b.dense(inner, hidden, characters, { gain: 0.1, name: "scores" });
}

/** A model of characters: contexts x, int64 [batch, context], to scores of the next characters. */
export function characterModel(shape: CharactersShape, batch: number): Uint8Array {
  const b = new Builder();
  characterScores(b, "x", shape);
  return b.build(
    [{ name: "x", dtype: DType.int64, shape: [batch, shape.context] }],
    [{ name: "scores", dtype: DType.float32 }],
  );
}

/**
 * Returns the character model in the form for a text-writing run: each step moves the context on by the next character,
 * chosen by the highest score. The addition to the scores, `jitter`, makes the choice random.
 */
export function characterWriter(shape: CharactersShape): Uint8Array {
  const b = new Builder();
  const scores = b.node("Add", [characterScores(b, "context", shape), "jitter"]);
  const token = b.named("token", "ArgMax", [scores], { axis: 1, keepdims: 1 });
  const [one, end] = [b.constant(int64Tensor([1])), b.constant(int64Tensor([shape.context]))];
  b.named("context_next", "Concat", [b.node("Slice", ["context", one, end, one]), token], { axis: 1 });
  return b.build(
    [
      { name: "context", dtype: DType.int64, shape: [1, shape.context] },
      { name: "jitter", dtype: DType.float32, shape: [1, shape.characters] },
    ],
    ["token", "context_next"].map((name) => ({ name, dtype: DType.int64 })),
  );
}

/** A transformer's sizes; `heads` divides `width`. */
type TransformerShape = {
  tokens: number;
  characters: number;
  width: number;
  heads: number;
  hidden: number;
  layers: number;
};

/** A small encoder: x, int64 [batch, tokens], to scores of each token, [batch, tokens, characters]. */
export function transformer(shape: TransformerShape, batch: number): Uint8Array {
  const { tokens, characters, width, heads, hidden, layers } = shape;
  const b = new Builder();
  const matrix = (x: string, from: number, to: number): string =>
    b.node("Add", [b.node("MatMul", [x, b.weights([from, to], from, 1)]), b.zeros([to])]);
  const sizes = (...dims: readonly number[]): string => b.constant(int64Tensor(dims));
  const normal = (x: string): string =>
    b.node("LayerNormalization", [x, b.weights([width], 1, 1), b.zeros([width])], { axis: -1 });
  const split = (x: string, perm: readonly number[]): string =>
    b.node("Transpose", [b.node("Reshape", [x, sizes(batch, tokens, heads, width / heads)])], { perm });
  const table = b.weights([characters, width], 1, 1);
  let x = b.node("Add", [b.node("Gather", [table, "x"]), b.weights([tokens, width], 1, 0.1)]);
  for (let layer = 0; layer < layers; layer++) {
    const own = normal(x);
    const query = split(matrix(own, width, width), [0, 2, 1, 3]);
    const key = split(matrix(own, width, width), [0, 2, 3, 1]);
    const value = split(matrix(own, width, width), [0, 2, 1, 3]);
    const scaled = b.node("Mul", [b.node("MatMul", [query, key]), b.scalar(Math.sqrt(heads / width))]);
    const seen = b.node("MatMul", [b.node("Softmax", [scaled], { axis: -1 }), value]);
    const joined = b.node("Reshape", [
      b.node("Transpose", [seen], { perm: [0, 2, 1, 3] }),
      sizes(batch, tokens, width),
    ]);
    x = b.node("Add", [x, matrix(joined, width, width)]);
    x = b.node("Add", [x, matrix(b.node("Relu", [matrix(normal(x), width, hidden)]), hidden, width)]);
  }
  b.named("scores", "MatMul", [normal(x), b.weights([width, characters], width, 0.1)]);
  return b.build(
    [{ name: "x", dtype: DType.int64, shape: [batch, tokens] }],
    [{ name: "scores", dtype: DType.float32 }],
  );
}

/** Two dense layers for digits: x [batch, 1, 28, 28] to scores [batch, 10], with 128 hidden numbers. */
export function perceptron(batch: number): Uint8Array {
  const b = new Builder();
  const hidden = b.node("Relu", [b.dense(b.node("Flatten", ["x"]), 784, 128)]);
  b.dense(hidden, 128, 10, { gain: 1, name: "scores" });
  return b.build(
    [{ name: "x", dtype: DType.float32, shape: [batch, 1, 28, 28] }],
    [{ name: "scores", dtype: DType.float32 }],
  );
}
