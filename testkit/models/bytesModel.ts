import { compile } from "../../src/compiler/compile.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { buildModel } from "../onnx/onnxBuilder.ts";

/** Returns a program that takes an input of `bytes` bytes, and does almost nothing with the input. */
export function bytesProgram(bytes: number): KnownProgram {
  const model = buildModel({
    inputs: [{ name: "x", dtype: DType.uint8, shape: [bytes] }],
    outputs: [{ name: "y", dtype: DType.uint8, shape: [bytes] }],
    nodes: [{ op: "Abs", inputs: ["x"], outputs: ["y"] }],
  });
  return knownProgram(compile(readModel(model), { shapes: {} }));
}
