import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { commitProgram } from "../../src/program/root.ts";
import { runProgram, type RunRanges } from "./runProgram.ts";

/** Returns a run whose items carry state. All outputs come from the last item, because an answer needs last outputs. */
export const carriedAnswers = (ranges: RunRanges = "two"): KnownProgram => rewired(ranges, true);

/**
 * Returns the same steps, but no step reads the item before. With ranges of "two", the last item has one output, and
 * each item has another output. With other ranges, each item has the only output.
 */
export const apartAnswers = (ranges: RunRanges = "two"): KnownProgram => rewired(ranges, false);

function rewired(ranges: RunRanges, isCarried: boolean): KnownProgram {
  const { model } = runProgram(ranges);
  const outputs = isCarried && ranges === "two" ? [1, 0] : model.program.outputs;
  const each = isCarried ? [] : [outputs.length - 1];
  const inputs = model.program.inputs.map((input, k) =>
    k === 0 && !isCarried ? { dtype: input.dtype, count: input.count } : input,
  );
  const program = { ...model.program, inputs, outputs, each };
  return knownProgram({ ...model, program, programRoot: commitProgram(program).programRoot });
}
