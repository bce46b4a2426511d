import { boundTensors } from "../../src/onnx/inputs/boundTensors.ts";
import { shapesOf } from "../../src/onnx/inputs/readInputFile.ts";
import { compile } from "../../src/compiler/compile.ts";
import { bindInputs } from "../../src/onnx/bindInputs.ts";
import { readModel } from "../../src/onnx/readModel.ts";
import type { CatalogueModel } from "./catalogue.ts";

/** The program roots that are committed, by the models' names in the catalogue. */
export const PROGRAM_ROOTS = "test/golden/programRoots.json";

/** The root of the program that a model of the catalogue compiles to, for the shapes of its own inputs. */
export function rootOf({ bytes, bind, inputs }: CatalogueModel): string {
  const model = readModel(bytes());
  const bound = bindInputs(model, boundTensors(model, bind));
  return compile(bound, { shapes: shapesOf(inputs()) }).programRoot;
}
