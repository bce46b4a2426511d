import { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import type { Execute } from "./execute.ts";

/** The items of a block, and the number of single items to time before the first block. */
const [BLOCK, TIMED] = [32, 16];
/** With fewer items, a comparison takes longer than blocks gain. */
const MIN_ITEMS = TIMED + 3 * BLOCK;

/** Whether blocks execute a program's items faster than single executions, by measurements so far. */
const areFaster = new WeakMap<CompiledModel, boolean>();

/**
 * Executes independent items in blocks, while blocks are faster. A program's first run compares: some single items,
 * then two blocks. The first block prepares the executor.
 * @param end The item before which to stop.
 * @param single Executes an item by itself.
 * @param take Receives the list of the trace of an item in a block.
 * @returns the first remaining item
 */
export async function executeTogether(
  { model, inputs }: { model: CompiledModel; inputs: RunInputs },
  { block }: Pick<Execute, "block">,
  end: number,
  single: (item: number) => Promise<void>,
  take: (item: number, list: MerkleList) => void,
): Promise<number> {
  if (block === undefined || areFaster.get(model) === false || end < MIN_ITEMS) return 0;
  const trees = new SuccessiveTrees();
  let item = 0;
  let began = performance.now();
  let alone: number | undefined;
  if (areFaster.get(model) === undefined) {
    for (; item <= TIMED; item++) {
      if (item === 1) began = performance.now();
      await single(item);
    }
    alone = (performance.now() - began) / TIMED;
  }
  for (let blocks = 1; item < end; blocks++) {
    began = performance.now();
    const count = Math.min(BLOCK, end - item);
    const items = Array.from({ length: count }, (_, k) => inputs.of(item + k));
    const result = await block({ model, items, guessed: [], trees });
    for (const { list } of result.items) take(item++, list!);
    const each = (performance.now() - began) / Math.max(1, result.items.length);
    if (result.items.length === 0) areFaster.set(model, false);
    else if (alone !== undefined && blocks === 2) areFaster.set(model, each < alone);
    if (areFaster.get(model) === false) return item;
  }
  return item;
}
