/** Small models that the examples of training begin with: seeded weights, float32. */
import { DType } from "../../../src/numerics/dtype.ts";
import { int64Tensor } from "../../../src/onnx/tensorData.ts";
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

/**
 * A denoiser of digits: a noisy picture x [batch, 1, 28, 28] and its share of noise t [batch, 1] to the noise in it. A
 * U of three sizes with the share of noise added to its features.
 */
export function denoiser(batch: number): Uint8Array {
  const b = new Builder();
  const relu = (x: string): string => b.node("Relu", [x]);
  const timed = (x: string, channels: number): string => {
    const hidden = relu(b.dense("t", 1, 16));
    const shape = b.constant(int64Tensor([batch, channels, 1, 1]));
    return b.node("Add", [x, b.node("Reshape", [b.dense(hidden, 16, channels), shape])]);
  };
  const up = (x: string, inputs: number, outputs: number): string => {
    const attributes = { kernel_shape: [2, 2], strides: [2, 2] };
    return b.node("ConvTranspose", [x, b.weights([inputs, outputs, 2, 2], inputs), b.zeros([outputs])], attributes);
  };
  const joined = (x: string, y: string): string => b.node("Concat", [x, y], { axis: 1 });
  const a = relu(timed(b.conv("x", 1, 16), 16));
  const half = relu(timed(b.conv(a, 16, 32, 2), 32));
  const quarter = relu(timed(b.conv(half, 32, 64, 2), 64));
  const middle = relu(b.conv(quarter, 64, 64));
  const back = relu(timed(b.conv(joined(up(middle, 64, 32), half), 64, 32), 32));
  const all = relu(b.conv(joined(up(back, 32, 16), a), 32, 16));
  b.named("noise", "Identity", [b.conv(all, 16, 1)]);
  return b.build(
    [
      { name: "x", dtype: DType.float32, shape: [batch, 1, 28, 28] },
      { name: "t", dtype: DType.float32, shape: [batch, 1] },
    ],
    [{ name: "noise", dtype: DType.float32 }],
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
 * highest score. Its weights have the names that those of `characterModel` have. What is added to the scores, `jitter`,
 * makes of it a choice by chance.
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
