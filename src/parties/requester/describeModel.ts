import { compile } from "../../compiler/compile.ts";
import { readModel } from "../../model/onnx/readModel.ts";
import { knownProgram } from "../../dispute/run/execution.ts";
import { prepareModel } from "../../runs/programs/modelSpec.ts";
import type { ProgramDescription } from "./description.ts";
import { describeProgram } from "./describeProgram.ts";
import type { LoadOptions } from "./loadProgram.ts";

/** What `loadProgram` does. */
export function describeModel(from: string | Uint8Array, options: LoadOptions): ProgramDescription {
  const { bind = {}, uint8 = [], shapes = {}, seed, stepByteLimit, labels, ...rest } = options;
  const { model, run } = prepareModel(readModel(from), { ...rest, bind, uint8, shapes });
  const compiled = compile(model, { shapes, stepByteLimit, run, ...(seed !== undefined && { seed }) });
  return describeProgram(knownProgram(compiled), labels);
}
