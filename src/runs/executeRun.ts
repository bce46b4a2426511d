import { tokensGuess } from "../compiler/wraps/decoderInputs.ts";
import type { MerkleList } from "../program/merkle/list.ts";
import { SuccessiveTrees } from "../executor/successiveTrees.ts";
import { maxThreads } from "../executor/createExecutor.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import type { Carried, Guess } from "../program/trace/runItems.ts";
import { Trace } from "../program/trace/trace.ts";
import type { Execution, KnownProgram } from "../dispute/run/execution.ts";
import { carriedFrom, RunExecution, type RunOptions } from "../dispute/run/runExecution.ts";
import { RootsOfItems } from "../dispute/run/runRoots.ts";
import { StoredRun } from "../dispute/run/storedRun.ts";
import { executeStretches, type Done, type Start, type Told } from "./stretches.ts";
import { Blocks, ownGuess } from "./blocks.ts";
import { executeTogether } from "./together.ts";
import {
  around,
  onOneDevice,
  type Execute,
  type ExecutionOrder,
  type ExecutedItem,
  type ExecuteStretch,
  type Stretch,
  type StretchResult,
} from "./execute.ts";

/** The same way to execute, with another order of each execution. */
export const withOrder = (
  execute: Execute,
  change: (order: ExecutionOrder | undefined) => ExecutionOrder | undefined,
): Execute => around(execute, (action, order) => action(change(order)));

/**
 * Called with an item after the execution of all items up to this item. The item's tensors remain valid until the
 * listener returns. For items executed in stretches, the listener gets only the last item of each stretch.
 */
export type ItemListener = (item: number, of: ExecutedItem) => void;

/** How many independent items are executed or wait at a time: two for each thread. */
const AT_ONCE = 2 * maxThreads();

/**
 * Executes all items of a run. For runs of many items, the result keeps the roots, the last item's execution, and the
 * state at the beginning of some items. Items whose carried tensors are guessed are executed together.
 * @param onItem Called with items executed in order: the items that carry state.
 */
export async function executeRun(
  program: KnownProgram,
  inputs: RunInputs,
  execute: Execute,
  { stored, form, ...told }: Omit<RunOptions, "last"> & Told = {},
  onItem: ItemListener = () => undefined,
): Promise<RunExecution> {
  const { items } = inputs.length;
  const kept = stored ?? new StoredRun(program.model.program, items);
  const run = { program, inputs, roots: new RootsOfItems(program.model.program, items) };
  const observer: InOrder = { ...told, pass: (item, carried) => kept.pass(item, carried), onItem };
  const { stretch } = execute;
  const last = await (!kept.isCarried
    ? executeApart(run, execute)
    : stretch === undefined
      ? executeInOrder(run, execute, observer)
      : executeInStretches(run, execute, stretch, observer));
  await kept.writeRoots(run.roots.bytes);
  return new RunExecution(program, inputs, run.roots.roots, { last, stored: kept, form });
}

/** A run in execution, with the roots found so far. */
type Run = Pick<RunExecution, "program" | "inputs"> & { roots: RootsOfItems };

/**
 * The observers of items executed in order: `pass` gets the state taken from the previous item, `onItem` the item's
 * result.
 */
type InOrder = Told & {
  pass: (item: number, carried: Carried) => Promise<void>;
  onItem: ItemListener;
};

/** @returns The execution of the last item. */
async function executeInOrder(
  { program, inputs, roots }: Run,
  execute: Execute,
  { guess, pass, onItem }: InOrder,
): Promise<Execution> {
  const { items } = inputs.length;
  const { model } = program;
  const trees = new SuccessiveTrees();
  const blocks = new Blocks({ model, inputs, trees }, execute, guess);
  let carried: Carried = new Map();
  let last: Execution | undefined;
  for (let item = 0; item < items;) {
    await pass(item, carried);
    // The last execution is kept, with separate memory and a full hash.
    const block = await blocks.next({ from: item, carried }, items - 1);
    if (block !== undefined) {
      for (const { list, tensors } of block.items) {
        roots.takeTrace(item, list!);
        onItem(item++, { program: model.program, tensor: (step) => tensors[step]! });
      }
      ({ carried } = block);
      continue;
    }
    last = await executeItem(program, inputs.of(item, carried), execute, item === items - 1 ? {} : { trees });
    carried = carriedFrom(last);
    roots.take(item, last.trace);
    onItem(item++, executedItem(last));
  }
  return last!;
}

const executedItem = ({ model, trace }: Execution): ExecutedItem => ({
  program: model.program,
  tensor: (step) => trace.tensor(step),
});

/**
 * Has all items except the last executed in stretches. The last item is executed separately: moves need the last item's
 * carried state and every checkpoint.
 * @returns The last item's execution.
 */
async function executeInStretches(
  { program, inputs, roots }: Run,
  execute: Execute,
  stretch: ExecuteStretch,
  { pass, onItem, ...told }: InOrder,
): Promise<Execution> {
  const last = inputs.length.items - 1;
  const start = { from: 0, carried: new Map<number, Uint8Array>() };
  const take = async ({ from, to, ...of }: Done): Promise<void> => {
    roots.takeItems(from, to - from, of.roots);
    await pass(to, of.carried);
    onItem(to - 1, of.last);
  };
  const carried = await executeStretches({ program, inputs }, start, last, stretch, take, told);
  const execution = await executeItem(program, inputs.of(last, carried), execute);
  roots.take(last, execution.trace);
  onItem(last, executedItem(execution));
  return execution;
}

/** Executes a stretch here, item after item. */
export const executeStretch = (stretch: Stretch, execute: Execute): Promise<StretchResult> =>
  onOneDevice(execute, () => stretchOnce(stretch, execute));

async function stretchOnce({ program, inputs, steps, text }: Stretch, execute: Execute): Promise<StretchResult> {
  const guess = text && tokensGuess(program.model, inputs, text);
  const roots = new RootsOfItems(program.model.program, inputs.length.items);
  const { trace } = await executeInOrder({ program, inputs, roots }, execute, { ...NO_OBSERVER, guess });
  const tensors: Uint8Array[] = [];
  for (const step of steps) tensors[step] = trace.tensor(step);
  return { roots: roots.bytes, tensors };
}

const NO_OBSERVER: InOrder = { pass: () => Promise.resolve(), onItem: () => undefined };

/** Returns the state that an item takes from the previous item, by executing all items from an earlier item on. */
async function carriedAt(
  run: Pick<RunExecution, "program" | "inputs">,
  start: Start,
  item: number,
  execute: Execute,
  guess?: Guess,
): Promise<Carried> {
  if (execute.stretch !== undefined) return executeStretches(run, start, item, execute.stretch, undefined, { guess });
  const blocks = new Blocks({ model: run.program.model, inputs: run.inputs }, execute, guess);
  let { from, carried } = start;
  while (from < item) {
    const block = await blocks.next({ from, carried }, item);
    carried = block?.carried ?? carriedFrom(await executeItem(run.program, run.inputs.of(from, carried), execute));
    from += block?.items.length ?? 1;
  }
  return carried;
}

/**
 * Executes independent items in blocks, or some at a time in any order.
 * @returns The execution of the last item.
 */
async function executeApart({ program, inputs, roots }: Run, execute: Execute): Promise<Execution> {
  const { items } = inputs.length;
  let last: Execution | undefined;
  const executeOne = async (item: number): Promise<void> => {
    const execution = await executeItem(program, inputs.of(item), execute, { isOneOfMany: items > 1 });
    roots.take(item, execution.trace);
    if (item === items - 1) last = execution;
  };
  const run = { model: program.model, inputs };
  let next = await executeTogether(run, execute, items - 1, executeOne, (item, list) => roots.takeTrace(item, list));
  const executeNext = async (): Promise<void> => {
    while (next < items) await executeOne(next++);
  };
  const lanes = Array.from({ length: Math.min(items, AT_ONCE) }, executeNext);
  try {
    await Promise.all(lanes);
  } finally {
    // After a failure no other item is begun, and nothing runs on.
    next = items;
    await Promise.allSettled(lanes);
  }
  return last!;
}

/**
 * Executes items of a run again, in one sweep in order, and gives the executions to the run. No item is executed twice.
 * @param reached Called with each item once the run holds it. The callback may release this item and earlier items.
 */
export async function executeItems(
  run: RunExecution,
  items: readonly number[],
  execute: Execute,
  reached: (item: number) => void | Promise<void> = () => undefined,
): Promise<void> {
  let passed: { from: number; carried: Carried } | undefined;
  const guess = await ownGuess(run, Math.max(0, ...items));
  for (const item of [...new Set(run.missing(items))].sort((a, b) => a - b)) {
    const nearest = await run.before(item);
    const start = passed !== undefined && passed.from > nearest.from ? passed : nearest;
    // A proof about what an item takes from the item before opens both.
    let from = Math.max(start.from, item - 1);
    let carried = await carriedAt(run, start, from, execute, guess);
    for (; from <= item; from++) {
      await run.stored.keep(from, carried);
      const execution = await executeItem(run.program, run.inputs.of(from, carried), execute);
      run.hold(from, execution);
      carried = carriedFrom(execution);
    }
    passed = { from, carried };
    await reached(item);
  }
}

/** The inputs of an item, for which the items from the nearest state on are executed. Nothing of them is held. */
export async function inputsOfItem(run: RunExecution, item: number, execute: Execute): Promise<readonly Uint8Array[]> {
  const guess = await ownGuess(run, item);
  return run.inputs.of(item, await carriedAt(run, await run.before(item), item, execute, guess));
}

/** Returns an item's execution: the held execution, or a fresh execution for this call only. */
export async function itemOf(run: RunExecution, item: number, execute: Execute): Promise<Execution> {
  if (run.missing([item]).length === 0) return run.item(item);
  return executeItem(run.program, await inputsOfItem(run, item, execute), execute);
}

/** How an item is executed. */
type ItemOptions = {
  /**
   * Receives the trees. With {@link SuccessiveTrees} the execution stays valid until the next execution with the same
   * trees.
   */
  trees?: Map<number, MerkleList>;
  isOneOfMany?: boolean;
};

async function executeItem(
  program: KnownProgram,
  inputs: readonly Uint8Array[],
  execute: Execute,
  { trees = new Map<number, MerkleList>(), isOneOfMany = false }: ItemOptions = {},
): Promise<Execution> {
  const { model } = program;
  const checkpoints = new Set(model.program.checkpoints.map(({ step }) => step));
  // An `execute` that hashes nothing leaves them empty.
  trees.clear();
  const tensors = await execute(model, inputs, (step) => checkpoints.has(step), trees, { isOneOfMany });
  return { ...program, inputs, trace: new Trace(model.program, tensors, trees) };
}
