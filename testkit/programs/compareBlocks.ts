import { expect } from "chai";
import type { BlockOptions } from "../../src/executor/blocks/runBlock.ts";
import type { Executor } from "../../src/executor/createExecutor.ts";
import { SuccessiveTrees } from "../../src/executor/successiveTrees.ts";
import type { CompiledModel } from "../../src/program/compiled.ts";
import type { MerkleList } from "../../src/program/merkle/list.ts";
import type { RunInputs } from "../../src/program/trace/runInputs.ts";
import { carriedTensors, type Carried } from "../../src/program/trace/runItems.ts";
import { Trace } from "../../src/program/trace/trace.ts";

type Run = { model: CompiledModel; inputs: RunInputs };
/** An item executed alone: root of the trace, tensors, carried tensors for the next item. */
type Item = { root: string; tensors: readonly Uint8Array[]; carried: Carried };

const checkpointsOf = ({ program }: CompiledModel): Set<number> => new Set(program.checkpoints.map(({ step }) => step));

/** Executes a run's items in order, each alone. */
export async function oneByOne({ model, inputs }: Run, executor: Executor): Promise<Item[]> {
  const all: Item[] = [];
  const kept = checkpointsOf(model);
  for (let item = 0; item < inputs.length.items; item++) {
    const trees = new Map<number, MerkleList>();
    const given = inputs.of(item, all.at(-1)?.carried);
    const { tensors } = await executor.run(given, { keep: (step) => kept.has(step), trees });
    const own = tensors.map((tensor) => Uint8Array.from(tensor));
    const carried = carriedTensors(model.program, (step) => own[step]!);
    all.push({ root: new Trace(model.program, own, trees).root, tensors: own, carried });
  }
  return all;
}

/**
 * Executes a run in blocks and compares each item with the item executed by itself.
 * @returns how many blocks were executed, and wrong guesses
 */
export async function compareBlocks(
  { model, inputs }: Run,
  executor: Executor,
  right: readonly Item[],
  {
    length,
    guessed,
    guess,
    isUnsure = false,
  }: { length: number; guessed: readonly number[]; guess: (item: number, carried: Carried) => Carried } & BlockOptions,
): Promise<{ blocks: number; wrong: number }> {
  const { items } = inputs.length;
  const trees = new SuccessiveTrees();
  const isGuessed = (input: number): boolean => {
    const { source } = model.program.inputs[input]!;
    return source?.kind === "carried" && guessed.includes(source.checkpoint);
  };
  let carried: Carried = new Map();
  const counts = { blocks: 0, wrong: 0 };
  for (let item = 0; item < items;) {
    const block = Array.from({ length: Math.min(length, items - item) }, (_, k) => {
      const taken = k === 0 ? carried : guess(item + k, right[item + k - 1]!.carried);
      return inputs.of(item + k, k === 0 ? taken : new Map([...taken].filter(([input]) => isGuessed(input))));
    });
    const result = await executor.runBlock(block, { trees, isUnsure });
    counts.wrong += Number(result.isWrong);
    // If each item's carried tensors are kept, each block has at least one right item.
    if (isUnsure) expect(result.items.length, `item ${item}`).to.be.greaterThan(0);
    if (result.items.length === 0) {
      carried = right[item++]!.carried;
      continue;
    }
    counts.blocks++;
    result.items.forEach(({ list, tensors }, k) => {
      const expected = right[item + k]!;
      expect(list!.root, `item ${item + k}`).to.equal(expected.root);
      for (const output of model.program.outputs) {
        const { step } = model.program.checkpoints[output]!;
        expect(Buffer.compare(tensors[step]!, expected.tensors[step]!), `item ${item + k}, step ${step}`).to.equal(0);
      }
    });
    item += result.items.length;
    for (const [input, bytes] of right[item - 1]!.carried)
      expect(Buffer.compare(result.carried.get(input)!, bytes), `carried ${input} after ${item - 1}`).to.equal(0);
    carried = result.carried;
  }
  return counts;
}

/** What an item carries, as a guess. */
export const RIGHT = (_: number, carried: Carried): Carried => carried;
/** A guess with one bit wrong at some items. */
export const wrongAt =
  (isWrong: (item: number) => boolean) =>
  (item: number, carried: Carried): Carried =>
    new Map(
      [...carried].map(([input, bytes]) => {
        const copy = Uint8Array.from(bytes);
        if (isWrong(item)) copy[item % copy.length]! ^= 1;
        return [input, copy];
      }),
    );
