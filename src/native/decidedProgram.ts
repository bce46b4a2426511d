import { isDecided, type DecidedOutput } from "../model/decision/decision.ts";
import { findDecisions } from "../compiler/decisions/findDecisions.ts";
import type { Model } from "../model/onnx/model.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { NativeModelError } from "./errors.ts";

/** The decisions for the outputs of a program that can be answered natively. */
export type DecidedProgram = {
  outputs: readonly DecidedOutput[];
  /** The values that decide, by name, each once. */
  deciding: readonly string[];
};

/**
 * @param model The model compiled for the program.
 * @throws NativeModelError if an output is not decided, or an item takes anything from the previous item
 */
export function decidedProgram(model: Model, { program }: CompiledModel): DecidedProgram {
  const refuse = (what: string): never => {
    throw new NativeModelError(`${model.source} is not executed natively: ${what}`);
  };
  if (program.inputs.some(({ source }) => source?.kind === "carried" || source?.kind === "index"))
    refuse("items of its run take inputs from the item before, or their number");
  const outputs = findDecisions(model).outputs.map((output) =>
    isDecided(output) ? output : refuse(`the output ${output.name} is no decision: ${output.reason}`),
  );
  const names = outputs.flatMap(({ decisions }) => decisions.flatMap(({ tensors }) => tensors));
  return { outputs, deciding: [...new Set(names)] };
}
