import { compile } from "../../src/compiler/compile.ts";
import { bindInputs } from "../../src/model/onnx/bindInputs.ts";
import { boundTensors } from "../../src/model/onnx/inputs/boundTensors.ts";
import { shapesOf } from "../../src/model/onnx/inputs/readInputFile.ts";
import type { Model, TensorData } from "../../src/model/onnx/model.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { CatalogueModel } from "./catalogue.ts";

/** A model of the catalogue: its file, its graph, the tensors bound at compile time, and its program. */
type CompiledFile = {
  file: Uint8Array;
  own: Model;
  bound: ReadonlyMap<string, TensorData>;
  model: CompiledModel;
};

/** Compiles a model of the catalogue for the shapes of the given inputs. */
export function compileModel({ bytes, bind }: CatalogueModel, given: ReadonlyMap<string, TensorData>): CompiledFile {
  const file = bytes();
  const own = readModel(file);
  const bound = boundTensors(own, bind);
  return { file, own, bound, model: compile(bindInputs(own, bound), { shapes: shapesOf(given) }) };
}
