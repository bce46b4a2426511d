import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { commitProgram } from "../../src/program/root.ts";
import { runProgram, type RunRanges } from "./runProgram.ts";

/** A run whose items carry state; all outputs are those of the last item, as an answer needs it. */
export const carriedAnswers = (ranges: RunRanges = "two"): KnownProgram => rewired(ranges, true);

/**
 * The same steps, of which none reads what the item before gives. With ranges of "two" there is an output of the last
 * item and one that each item has, else one that each item has.
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
