/** Small models that are trained, with seeded weights of float32, and the steps of runs that use what was learned. */
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

/** How a denoiser of pictures is made: numbers of a picture, of its time, and of a hidden layer. */
export type DenoiserShape = { pixels: number; times: number; hidden: number };

/** The pictures that noisy ones are guessed to be. Three hidden layers; the later two are added to what they are of. */
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

/** What a step of diffusion multiplies: of `schedule`, a row for each step. */
export type Row = {
  /** The time's numbers. */
  times: readonly number[];
  /** The factors of the next picture: of the guessed picture, of the present picture, and of fresh noise. */
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

/** How a model of characters is made: of how many characters before it guesses, and of how many there are. */
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
 * The same as the step of a run that writes text: a context becomes the one with the next character, the one of the
 * highest score. What is added to the scores, `jitter`, makes of it a choice by chance.
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
