import { compile } from "../compiler/compile.ts";
import { readModel } from "../onnx/readModel.ts";
import { knownProgram } from "../player/execution.ts";
import { prepareModel } from "../player/programs/modelSpec.ts";
import type { ProgramDescription } from "./description.ts";
import { describeProgram } from "./describeProgram.ts";
import type { LoadOptions } from "./loadProgram.ts";

/** What `loadProgram` does. */
export function describeModel(
  from: string | Uint8Array,
  { shapes = {}, bind = {}, uint8 = [], decide, drawn, seed, stepByteLimit, run, decoder, labels }: LoadOptions,
): ProgramDescription {
  const prepared = prepareModel(readModel(from), { bind, uint8, decide, drawn, run, decoder });
  const { model } = prepared;
  const options = { shapes, stepByteLimit, run: prepared.run, ...(seed !== undefined && { seed }) };
  return describeProgram(knownProgram(compile(model, options)), labels);
}
