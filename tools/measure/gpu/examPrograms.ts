import { compile } from "../../../src/compiler/compile.ts";
import { prepareModel } from "../../../src/compiler/wraps/modelSpec.ts";
import { knownProgram, type KnownProgram } from "../../../src/dispute/run/execution.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { DType } from "../../../src/numerics/dtype.ts";
import { buildModel, type NodeSpec } from "../../../testkit/onnx/onnxBuilder.ts";

/**
 * Programs of exams for GPUs, whose inputs are drawn from the seed.
 *
 * - `products`: square matrices, multiplied again and again: work for units of integers or floats.
 * - `memory`: a square matrix times a vector, again and again: each round reads the whole matrix, so that a machine
 *   must keep it in a fast memory, or draw it anew.
 */
export const EXAM_KINDS = ["products", "memory"] as const;
type ExamKind = (typeof EXAM_KINDS)[number];

/** A model's bytes. @param size Rows and columns of the matrices. */
function examModel(kind: ExamKind, size: number, rounds: number): Uint8Array {
  const width = kind === "products" ? size : 1;
  const nodes: NodeSpec[] = [];
  let last = "x";
  for (let k = 0; k < rounds; k++) {
    nodes.push({ op: "MatMul", inputs: ["a", last], outputs: [`product${k}`] });
    // Values stay between -1 and 1.
    nodes.push({ op: "Tanh", inputs: [`product${k}`], outputs: [`y${k}`] });
    last = `y${k}`;
  }
  return buildModel({
    nodes,
    inputs: [
      { name: "a", dtype: DType.float32, shape: [size, size] },
      { name: "x", dtype: DType.float32, shape: [size, width] },
    ],
    outputs: [{ name: last, dtype: DType.float32, shape: [size, width] }],
  });
}

/** The program of an exam: its only input is the seed. */
export function examProgram(kind: ExamKind, size: number, rounds: number): KnownProgram {
  const scale = 2 / Math.sqrt(size);
  const drawn = { a: { low: -scale, high: scale }, x: { low: -1, high: 1 } };
  const { model } = prepareModel(readModel(examModel(kind, size, rounds)), { bind: {}, uint8: [], drawn });
  return knownProgram(compile(model, { shapes: {} }));
}
