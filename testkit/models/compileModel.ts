import { compile } from "../../src/compiler/compile.ts";
import { bindInputs } from "../../src/model/onnx/bindInputs.ts";
import { boundTensors } from "../../src/model/onnx/inputs/boundTensors.ts";
import { shapesOf } from "../../src/model/onnx/inputs/readInputFile.ts";
import type { Model, TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { CatalogueModel } from "./catalogue.ts";

/** A compiled catalogue model: the file, the graph, the tensors bound at compile time, and the program. */
type CompiledFile = {
  file: Uint8Array;
  own: Model;
  bound: ReadonlyMap<string, TensorData>;
  model: CompiledModel;
};

/** Compiles a catalogue model for the given inputs' shapes. */
export function compileModel({ bytes, bind }: CatalogueModel, given: ReadonlyMap<string, TensorData>): CompiledFile {
  const file = bytes();
  const own = readModel(file);
  const bound = boundTensors(own, bind);
  return { file, own, bound, model: compile(bindInputs(own, bound), { shapes: shapesOf(given) }) };
}
