import type { Hex } from "viem";
import { submissionOf } from "../../dispute/workerMove.ts";
import { concatenated } from "../../program/merkle/concatenated.ts";
import type { Hash } from "../../program/merkle/hash.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Program } from "../../program/types.ts";
import { Answer, isOfEachItem, outputTensors } from "../../program/trace/answer.ts";
import type { RunInputs } from "../../program/trace/runInputs.ts";
import { carriedTensors, keptSteps, type Carried } from "../../program/trace/runItems.ts";
import { Blocks } from "../../runs/blocks.ts";
import { onOneDevice, type Execute } from "../../runs/execute.ts";
import type { KeptTexts } from "./keptTexts.ts";

/** The outputs of a run, and the run's root and nodes in answer form. */
type AnsweredRun = {
  /**
   * For each output the tensors, one after the other: all items' tensors if each item has the output, otherwise the
   * last item's tensor.
   */
  outputs: readonly Uint8Array[];
  root: Hash;
  /** The outputs' roots, submitted on chain with the claim. */
  nodes: Hex;
};

/** Texts that were kept for somebody's runs of wrapped decoders. */
type Kept = { texts: KeptTexts; owner: string };

type OnItem = (item: number, outputs: readonly Uint8Array[]) => void;

/**
 * Executes a run exactly, for its outputs alone: nothing of a trace is hashed.
 * @param onItem Called once with each item's outputs, which are overwritten later. An output of the last item that no
 *   item carries is there only for the last item. Items that a kept text spares are left out.
 * @param kept Only for programs that are wrapped decoders.
 * @returns with `isWhole`: whether all items were executed
 */
export function answerRun(
  { model }: Pick<KnownProgram, "model">,
  inputs: RunInputs,
  execute: Execute,
  onItem?: OnItem,
  kept?: Kept,
): Promise<AnsweredRun & { isWhole: boolean }> {
  // A run that changes its device begins anew.
  let given = 0;
  const once: OnItem = (item, outputs) => {
    if (item < given) return;
    given = item + 1;
    onItem?.(item, outputs);
  };
  return onOneDevice(execute, () => answerOnce(model, inputs, execute, once, kept));
}

async function answerOnce(
  model: CompiledModel,
  inputs: RunInputs,
  execute: Execute,
  onItem: OnItem,
  kept: Kept | undefined,
): Promise<AnsweredRun & { isWhole: boolean }> {
  const { program } = model;
  const { items } = inputs.length;
  const wanted = keptSteps(program);
  const steps = outputSteps(program);
  const tensors: Uint8Array[][] = steps.map(() => []);
  const take = (item: number, results: readonly Uint8Array[]): void => {
    for (const [k, step] of steps.entries())
      if (item === items - 1 || isOfEachItem(program, k)) tensors[k]!.push(results[step]!.slice());
    onItem(
      item,
      steps.map((step) => results[step]!),
    );
  };
  const blocks = new Blocks({ model, inputs }, execute);
  const run = { model, inputs, owner: kept?.owner ?? "", device: execute.device?.() };
  const start = kept?.texts.take(run);
  let carried: Carried = start?.carried ?? new Map();
  for (let item = start?.item ?? 0; item < items;) {
    const block = await blocks.next({ from: item, carried }, items);
    if (block === undefined) {
      const results = await execute(model, inputs.of(item, carried), (step) => wanted.has(step));
      carried = carriedTensors(program, (step) => results[step]!);
      take(item++, results);
    } else {
      for (const each of block.items) take(item++, each.tensors);
      ({ carried } = block);
    }
  }
  if (run.device === execute.device?.()) kept?.texts.put(run, carried);
  return { ...answered(tensors), isWhole: start === undefined };
}

/** Returns the same for outputs computed elsewhere. @returns undefined for a wrong number of bytes */
export function answerOfBytes(
  program: Program,
  items: number,
  outputs: readonly Uint8Array[],
): AnsweredRun | undefined {
  if (outputs.length !== program.outputs.length) return undefined;
  const tensors: Uint8Array[][] = [];
  for (const [k, step] of outputSteps(program).entries()) {
    const { dtype, count } = program.steps[step]!;
    const size = count * dtypeBytes(dtype);
    const expected = outputTensors(program, k, items);
    const bytes = outputs[k]!;
    if (bytes.length !== size * expected) return undefined;
    tensors.push(Array.from({ length: expected }, (_, i) => bytes.subarray(i * size, (i + 1) * size)));
  }
  return answered(tensors);
}

function answered(tensors: readonly (readonly Uint8Array[])[]): AnsweredRun {
  const { list, root } = Answer.ofTensors(tensors);
  // All outputs are shown, whatever the deployment's arity.
  return { outputs: tensors.map((ofItems) => concatenated(ofItems)), root, nodes: submissionOf(list, 0, "answer") };
}

const outputSteps = ({ outputs, checkpoints }: Program): number[] =>
  outputs.map((checkpoint) => checkpoints[checkpoint]!.step);
