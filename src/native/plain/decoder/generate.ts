import {
  chosenToken,
  decoderInputs,
  decoderLimits,
  requireGeneration,
  type Generation,
} from "../../../compiler/wraps/decoderInputs.ts";
import type { Executor } from "../../../executor/createExecutor.ts";
import type { CompiledModel } from "../../../program/compiled.ts";
import { RunInputs } from "../../../program/trace/runInputs.ts";
import { keptSteps, runItems } from "../../../program/trace/runItems.ts";

/** An item of a generation: the token chosen for the next place, and the tensors of the item's steps. */
type GeneratedItem = { token: number; tensors: readonly Uint8Array[] };

/**
 * Executes the items of a wrapped decoder's run in order.
 * @param items The number of items. The first items, one fewer than the prompt's tokens, choose the prompt's tokens.
 * @param keep Further steps whose tensors are returned.
 * @throws DecoderRequestError if the program cannot generate the text, or not at the requested length
 */
export async function* generate(
  model: CompiledModel,
  executor: Pick<Executor, "run">,
  given: Generation,
  items: number,
  keep: readonly number[] = [],
): AsyncGenerator<GeneratedItem> {
  const { program } = model;
  requireGeneration(decoderLimits(model), given, items);
  const kept = new Set([...keptSteps(program), ...keep]);
  const { step } = program.checkpoints[program.outputs[0]!]!;
  let item = 0;
  const inputs = new RunInputs(program.inputs, { items, firstItem: 0 }, decoderInputs(model, given));
  const execute = async (taken: readonly Uint8Array[]): Promise<readonly Uint8Array[]> =>
    (await executor.run(taken, { keep: (each) => kept.has(each) })).tensors;
  for await (const tensors of runItems(program, inputs, execute))
    yield { token: chosenToken(tensors[step]!, item++), tensors };
}
