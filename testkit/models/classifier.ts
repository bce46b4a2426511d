import { DType } from "../../src/numerics/dtype.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel, type ModelSpec } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

const IN = 32;
const HIDDEN = 64;
const CLASSES = 10;

/** A small network that decides: `class` is the ArgMax of `logits`. Seeded weights. */
export function classifierSpec(seed = 1): ModelSpec {
  const prng = new Prng(seed);
  const weights = (rows: number, columns: number) =>
    floatTensor(
      Array.from({ length: rows * columns }, () => (prng.below(2_001) - 1_000) / 4_000),
      [rows, columns],
    );
  return {
    inputs: [{ name: "x", dtype: DType.float32, shape: [1, IN] }],
    outputs: [{ name: "class", dtype: DType.int64, shape: [1] }],
    initializers: { w1: weights(IN, HIDDEN), b1: weights(1, HIDDEN), w2: weights(HIDDEN, CLASSES) },
    nodes: [
      { op: "Gemm", inputs: ["x", "w1", "b1"], outputs: ["h1"] },
      { op: "Tanh", inputs: ["h1"], outputs: ["h2"] },
      { op: "MatMul", inputs: ["h2", "w2"], outputs: ["logits"] },
      { op: "ArgMax", inputs: ["logits"], outputs: ["class"], attributes: { axis: -1, keepdims: 0 }, name: "decide" },
    ],
  };
}

/** The bytes of that network. */
export const classifierBytes = (seed = 1): Uint8Array => buildModel(classifierSpec(seed));
