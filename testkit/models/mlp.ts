import { compile } from "../../src/compiler/compile.ts";
import { withDrawnInputs } from "../../src/compiler/wraps/withDrawnInputs.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";
import { Prng } from "../random/prng.ts";

const IN = 64;
const HIDDEN = 300;
const OUT = 10;

/** Weights from -1/4 to 1/4, float32 [rows, columns]. */
export const seededWeights = (prng: Prng, rows: number, columns: number) =>
  floatTensor(
    Array.from({ length: rows * columns }, () => (prng.below(2_001) - 1_000) / 4_000),
    [rows, columns],
  );

/** The bytes of a small network, 64 -> 300 -> 10 with Relu and Softmax, with seeded weights. */
export function mlpBytes(seed = 1): Uint8Array {
  const prng = new Prng(seed);
  const weights = (rows: number, columns: number) => seededWeights(prng, rows, columns);
  return buildModel({
    inputs: [{ name: "x", dtype: DType.float32, shape: [1, IN] }],
    outputs: [{ name: "y", dtype: DType.float32, shape: [1, OUT] }],
    initializers: { w1: weights(IN, HIDDEN), b1: weights(1, HIDDEN), w2: weights(HIDDEN, OUT), b2: weights(1, OUT) },
    nodes: [
      { op: "MatMul", inputs: ["x", "w1"], outputs: ["h1"] },
      { op: "Add", inputs: ["h1", "b1"], outputs: ["h2"] },
      { op: "Relu", inputs: ["h2"], outputs: ["h3"] },
      { op: "MatMul", inputs: ["h3", "w2"], outputs: ["h4"] },
      { op: "Add", inputs: ["h4", "b2"], outputs: ["h5"] },
      { op: "Softmax", inputs: ["h5"], outputs: ["y"], attributes: { axis: -1 } },
    ],
  });
}

/** The network as a program. */
export const mlpProgram = (seed = 1): KnownProgram => knownProgram(compile(readModel(mlpBytes(seed)), { shapes: {} }));

/** Returns the network with an input drawn within the program, like a model zoo's networks. */
export const drawnMlp = (seed = 1): KnownProgram =>
  knownProgram(compile(withDrawnInputs(readModel(mlpBytes(seed)), { x: { low: -1, high: 1 } }), { shapes: {} }));

/** An input of the network. */
export function mlpInput(seed: number): Uint8Array {
  const prng = new Prng(seed);
  return floatTensor(Array.from({ length: IN }, () => prng.below(2_001) / 1_000 - 1)).bytes;
}
