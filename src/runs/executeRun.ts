import type { MerkleList } from "../program/merkle/list.ts";
import { SuccessiveTrees } from "../executor/successiveTrees.ts";
import { maxThreads } from "../executor/createExecutor.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import type { Carried } from "../program/trace/runItems.ts";
import { Trace } from "../program/trace/trace.ts";
import type { Execution, KnownProgram } from "../dispute/run/execution.ts";
import { carriedFrom, RunExecution, type RunOptions } from "../dispute/run/runExecution.ts";
import { RootsOfItems } from "../dispute/run/runRoots.ts";
import { StoredRun } from "../dispute/run/storedRun.ts";
import { executeStretches, type Start } from "./stretches.ts";
import type { Execute, ExecutionOrder, ExecutedItem, ExecuteStretch, Stretch, StretchResult } from "./execute.ts";

/** The same way to execute, with another order of each execution. */
export function withOrder(
  execute: Execute,
  change: (order: ExecutionOrder | undefined) => ExecutionOrder | undefined,
): Execute {
  const one: Execute = (model, inputs, keep, trees, order) => execute(model, inputs, keep, trees, change(order));
  const { stretch } = execute;
  const many: ExecuteStretch | undefined = stretch && ((asked, order) => stretch(asked, change(order)));
  return Object.assign(one, { stretch: many });
}

/**
 * Told of an item once it is executed, and those before it: its tensors are there until it returns. Of items that are
 * executed in stretches it is told the last ones only.
 */
export type ItemListener = (item: number, of: ExecutedItem) => void;

/** So many items that take nothing from each other are executed or wait for it at a time: two for each thread. */
const AT_ONCE = 2 * maxThreads();

/**
 * Executes all items of a run. Of many items the roots are kept, the execution of the last one, and what some of them
 * begin with.
 * @param onItem Told of items that are executed in their order: those that carry state.
 */
export async function executeRun(
  program: KnownProgram,
  inputs: RunInputs,
  execute: Execute,
  { stored, form }: Omit<RunOptions, "last"> = {},
  onItem: ItemListener = () => undefined,
): Promise<RunExecution> {
  const { items } = inputs.length;
  const kept = stored ?? new StoredRun(program.model.program, items);
  const run = { program, inputs, roots: new RootsOfItems(program.model.program, items) };
  const observer: InOrder = { pass: (item, carried) => kept.pass(item, carried), onItem };
  const { stretch } = execute;
  const last = await (!kept.isCarried
    ? executeApart(run, execute)
    : stretch === undefined
      ? executeInOrder(run, execute, observer)
      : executeInStretches(run, execute, stretch, observer));
  await kept.writeRoots(run.roots.bytes);
  return new RunExecution(program, inputs, run.roots.roots, { last, stored: kept, form });
}

/** A run that is executed, and its roots so far. */
type Run = Pick<RunExecution, "program" | "inputs"> & { roots: RootsOfItems };

/** What is told of items in their order: what each takes from the one before, and what it gave. */
type InOrder = { pass: (item: number, carried: Carried) => Promise<void>; onItem: ItemListener };

/** @returns The execution of the last item. */
async function executeInOrder(
  { program, inputs, roots }: Run,
  execute: Execute,
  { pass, onItem }: InOrder,
): Promise<Execution> {
  const { items } = inputs.length;
  const trees = new SuccessiveTrees();
  let last: Execution | undefined;
  for (let item = 0; item < items; item++) {
    const carried: Carried = last === undefined ? new Map() : carriedFrom(last);
    await pass(item, carried);
    // The last one is kept: it has memory of its own, and is hashed in full.
    last = await executeItem(program, inputs.of(item, carried), execute, item === items - 1 ? {} : { trees });
    roots.take(item, last.trace);
    onItem(item, executedItem(last));
  }
  return last!;
}

const executedItem = ({ model, trace }: Execution): ExecutedItem => ({
  program: model.program,
  tensor: (step) => trace.tensor(step),
});

/**
 * Has the items before the last one executed in stretches. The last one is executed by itself: moves need what it takes
 * from the item before, and all of its checkpoints.
 * @returns The execution of the last item.
 */
async function executeInStretches(
  { program, inputs, roots }: Run,
  execute: Execute,
  stretch: ExecuteStretch,
  { pass, onItem }: InOrder,
): Promise<Execution> {
  const last = inputs.length.items - 1;
  const start = { from: 0, carried: new Map<number, Uint8Array>() };
  const carried = await executeStretches({ program, inputs }, start, last, stretch, async ({ from, to, ...of }) => {
    roots.takeItems(from, to - from, of.roots);
    await pass(to, of.carried);
    onItem(to - 1, of.last);
  });
  const execution = await executeItem(program, inputs.of(last, carried), execute);
  roots.take(last, execution.trace);
  onItem(last, executedItem(execution));
  return execution;
}

/** Executes a stretch here, item after item. */
export async function executeStretch({ program, inputs, steps }: Stretch, execute: Execute): Promise<StretchResult> {
  const roots = new RootsOfItems(program.model.program, inputs.length.items);
  const { trace } = await executeInOrder({ program, inputs, roots }, execute, NO_OBSERVER);
  const tensors: Uint8Array[] = [];
  for (const step of steps) tensors[step] = trace.tensor(step);
  return { roots: roots.bytes, tensors };
}

const NO_OBSERVER: InOrder = { pass: () => Promise.resolve(), onItem: () => undefined };

/** What an item takes from the item before, for which those from an earlier one on are executed. */
async function carriedAt(
  run: Pick<RunExecution, "program" | "inputs">,
  start: Start,
  item: number,
  execute: Execute,
): Promise<Carried> {
  if (execute.stretch !== undefined) return executeStretches(run, start, item, execute.stretch);
  let { from, carried } = start;
  for (; from < item; from++)
    carried = carriedFrom(await executeItem(run.program, run.inputs.of(from, carried), execute));
  return carried;
}

/**
 * Items that take nothing from each other are executed some at a time, in any order.
 * @returns The execution of the last item.
 */
async function executeApart({ program, inputs, roots }: Run, execute: Execute): Promise<Execution> {
  const { items } = inputs.length;
  let [next, last]: [number, Execution | undefined] = [0, undefined];
  const executeNext = async (): Promise<void> => {
    while (next < items) {
      const item = next++;
      const execution = await executeItem(program, inputs.of(item), execute, { isOneOfMany: items > 1 });
      roots.take(item, execution.trace);
      if (item === items - 1) last = execution;
    }
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
 * Executes items of a run again, in one sweep in their order, and has the run hold them: none is executed twice.
 * @param reached Called with each of them once it is held. It may release it, and those before.
 */
export async function executeItems(
  run: RunExecution,
  items: readonly number[],
  execute: Execute,
  reached: (item: number) => void | Promise<void> = () => undefined,
): Promise<void> {
  let passed: { from: number; carried: Carried } | undefined;
  for (const item of [...new Set(run.missing(items))].sort((a, b) => a - b)) {
    const nearest = await run.before(item);
    const start = passed !== undefined && passed.from > nearest.from ? passed : nearest;
    // A proof about what an item takes from the item before opens both.
    let from = Math.max(start.from, item - 1);
    let carried = await carriedAt(run, start, from, execute);
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
  return run.inputs.of(item, await carriedAt(run, await run.before(item), item, execute));
}

/** The execution of an item: the one that is held, or one made for this alone. */
export async function itemOf(run: RunExecution, item: number, execute: Execute): Promise<Execution> {
  if (run.missing([item]).length === 0) return run.item(item);
  return executeItem(run.program, await inputsOfItem(run, item, execute), execute);
}

/** How an item is executed. */
type ItemOptions = {
  /** Receives the trees. With {@link SuccessiveTrees} the execution holds until the next one over them. */
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
