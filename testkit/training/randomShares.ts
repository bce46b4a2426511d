/** Random models for training over shares, with random batches and cuts. */
import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import type { Prng } from "../random/prng.ts";
import { Builder } from "./builder.ts";
import { transformer } from "./models.ts";

/** A random model with a batch size and inputs for a step. */
export type ShareCase = {
  onnx: Uint8Array;
  batch: number;
  loss: "crossEntropy" | "mse";
  x: Uint8Array;
  labels: Uint8Array;
};

const numbers = (prng: Prng, count: number): number[] =>
  Array.from({ length: count }, () => (prng.uint32() / 2 ** 31 - 1) * 2 ** (prng.below(9) - 4));
const whole = (prng: Prng, count: number, below: number): Uint8Array =>
  int64Tensor(Array.from({ length: count }, () => prng.below(below))).bytes;

/** Two layers over numbers; with `mse`, the labels are numbers too. */
export function dense(prng: Prng): ShareCase {
  const [batch, inputs, hidden, classes] = [2 + prng.below(9), 1 + prng.below(6), 1 + prng.below(7), 1 + prng.below(4)];
  const loss = prng.below(2) === 0 ? ("mse" as const) : ("crossEntropy" as const);
  const b = new Builder();
  const inner = b.node(prng.below(2) === 0 ? "Tanh" : "Relu", [b.dense("x", inputs, hidden)]);
  b.dense(inner, hidden, classes, { name: "scores" });
  return {
    ...{ onnx: buildScores(b, [batch, inputs]), batch, loss },
    x: floatTensor(numbers(prng, batch * inputs)).bytes,
    labels: loss === "mse" ? floatTensor(numbers(prng, batch * classes)).bytes : whole(prng, batch, classes),
  };
}

/** A convolution, a pooling, a dense layer. */
function pictures(prng: Prng): ShareCase {
  const [batch, channels, side, classes] = [2 + prng.below(7), 1 + prng.below(3), 4 + prng.below(4), 2 + prng.below(3)];
  const b = new Builder();
  const pooling = prng.below(2) === 0 ? "MaxPool" : "AveragePool";
  const pool = { kernel_shape: [2, 2], strides: [2, 2], ceil_mode: prng.below(2), pads: [prng.below(2), 0, 0, 0] };
  const read = b.node("Relu", [b.conv("x", 1, channels)]);
  const pooled = b.node(pooling, [read], pool);
  const sizeOf = (pad: number): number => (pool.ceil_mode ? Math.ceil : Math.floor)((side + pad - 2) / 2) + 1;
  const features = channels * sizeOf(pool.pads[0]!) * sizeOf(0);
  b.dense(b.node("Flatten", [pooled]), features, classes, { name: "scores" });
  return {
    ...{ onnx: buildScores(b, [batch, 1, side, side]), batch, loss: "crossEntropy" },
    x: floatTensor(numbers(prng, batch * side * side)).bytes,
    labels: whole(prng, batch, classes),
  };
}

/** A transformer over a few tokens. */
function tokens(prng: Prng): ShareCase {
  const [batch, count, heads] = [2 + prng.below(4), 1 + prng.below(4), 1 + prng.below(2)];
  const shape = { tokens: count, characters: 5, width: 4 * heads, heads, hidden: 3, layers: 1 + prng.below(2) };
  return {
    ...{ onnx: transformer(shape, batch), batch, loss: "crossEntropy" },
    ...{ x: whole(prng, batch * count, 5), labels: whole(prng, batch * count, 5) },
  };
}

/** A model's bytes, with an input "x". */
export const buildScores = (b: Builder, shape: readonly number[]): Uint8Array =>
  b.build([{ name: "x", dtype: DType.float32, shape }], [{ name: "scores", dtype: DType.float32 }]);

/** The kinds of models. */
export const SHARE_CASES = { dense, pictures, tokens };

/** Cuts a batch at random. */
export function cutOf(prng: Prng, batch: number): number[] {
  const cuts = new Set(Array.from({ length: prng.below(batch) }, () => 1 + prng.below(batch - 1)));
  const ends = [...cuts, batch].sort((a, b) => a - b);
  return ends.map((end, k) => end - (ends[k - 1] ?? 0));
}
