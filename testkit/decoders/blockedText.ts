import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { createExecutor, type Executor, type RunOptions } from "../../src/executor/createExecutor.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** The default number of items in a text, and the decoder's slots. */
export const TEXT_ITEMS = 15;
/** The longest block of a text's executor. */
export const TEXT_BLOCK = 8;

/** A text as a run, with an executor that also executes blocks. */
export type BlockedText = {
  program: KnownProgram;
  inputs: RunInputs;
  executor: Executor;
  /** The input that takes the tokens from the item before, and the step that gives them. */
  input: number;
  step: number;
};

/**
 * Wraps and compiles a decoder for a text.
 * @param bytes The model's file.
 * @param items The text's items, and the decoder's slots.
 */
export async function blockedText(
  bytes: Uint8Array,
  prompt: readonly number[],
  items = TEXT_ITEMS,
): Promise<BlockedText> {
  const { model: wrapped, run } = wrapDecoder(readModel(bytes), { slots: items, greedy: true });
  const model = compile(wrapped, { shapes: {}, run });
  const { checkpoints, outputs, inputs } = model.program;
  const guessed = [outputs[0]!];
  const executor = await createExecutor(model, { threads: 1, blocks: { lengths: [4, TEXT_BLOCK], guessed } });
  return {
    program: knownProgram(model),
    inputs: new RunInputs(inputs, { items, firstItem: 0 }, decoderInputs(model, { prompt })),
    executor,
    input: model.inputs.findIndex(({ name }) => name === "tokens_before"),
    step: checkpoints[outputs[0]!]!.step,
  };
}

/** An executor as `Execute`, with counts of items executed by themselves, of blocks and of wrong guesses. */
export type CountedExecute = { execute: Execute; counts: { singles: number; blocks: number; wrong: number } };

/**
 * @param isInBlocks Whether it executes blocks.
 * @param onStep Of items executed by themselves, for lies.
 */
export function countedExecute(executor: Executor, isInBlocks = true, onStep?: RunOptions["onStep"]): CountedExecute {
  const counts = { singles: 0, blocks: 0, wrong: 0 };
  const one: Execute = async (_, inputs, keep, trees) => {
    counts.singles++;
    const options = { ...(keep && { keep }), ...(trees && { trees }), ...(onStep && { onStep }) };
    return (await executor.run(inputs, options)).tensors;
  };
  const block: Execute["block"] = async ({ items, ...options }) => {
    const result = await executor.runBlock(items, options);
    counts.blocks++;
    counts.wrong += Number(result.isWrong);
    return result;
  };
  return { execute: Object.assign(one, isInBlocks ? { block } : {}), counts };
}
