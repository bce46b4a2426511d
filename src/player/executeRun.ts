import type { MerkleList } from "../merkle/list.ts";
import { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { CompiledModel } from "../program/compiled.ts";
import { mostThreads } from "../executor/createExecutor.ts";
import type { RunInputs } from "../trace/runInputs.ts";
import type { Carried } from "../trace/runItems.ts";
import { Trace } from "../trace/trace.ts";
import type { Execution, KnownProgram } from "./execution.ts";
import { carriedFrom, RunExecution, type RunOptions } from "./runExecution.ts";
import { RootsOfItems } from "./runRoots.ts";
import { StoredRun } from "./storedRun.ts";

/**
 * Executes a program: one tensor for each step, canonical little-endian bytes.
 * @param keep Steps whose tensors are asked for; others may be left out, as holes. Without it, all.
 * @param trees May be given the trees of checkpoints' tensors, where those are hashed on the way.
 */
export type Execute = (
  model: CompiledModel,
  inputs: readonly Uint8Array[],
  keep?: (step: number) => boolean,
  trees?: Map<number, MerkleList>,
  order?: ExecutionOrder,
) => Promise<Uint8Array[]>;

/** What decides when an execution comes, and beside which others. */
export type ExecutionOrder = {
  /** Whether other items of the same run are executed beside it. */
  isOneOfMany?: boolean;
  /** Until when the result is of use, unix seconds: the earliest comes first. Infinity if absent. */
  due?: number;
};

/** Told of an item once it is executed, and those before it: its tensors are there until it returns. */
export type ItemListener = (item: number, execution: Execution) => void;

/** So many items that take nothing from each other are executed or wait for it at a time: two for each thread. */
const AT_ONCE = 2 * mostThreads();

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
  const last = await (kept.isCarried ? executeInOrder(run, execute, kept, onItem) : executeApart(run, execute));
  await kept.writeRoots(run.roots.bytes);
  return new RunExecution(program, inputs, run.roots.roots, { last, stored: kept, form });
}

/** A run that is executed, and its roots so far. */
type Run = Pick<RunExecution, "program" | "inputs"> & { roots: RootsOfItems };

/** @returns The execution of the last item. */
async function executeInOrder(
  { program, inputs, roots }: Run,
  execute: Execute,
  stored: StoredRun,
  onItem: ItemListener,
): Promise<Execution> {
  const { items } = inputs.length;
  const trees = new SuccessiveTrees();
  let last: Execution | undefined;
  for (let item = 0; item < items; item++) {
    const carried: Carried = last === undefined ? new Map() : carriedFrom(last);
    await stored.pass(item, carried);
    // The last one is kept: it has memory of its own, and is hashed in full.
    last = await executeItem(program, inputs.of(item, carried), execute, item === items - 1 ? {} : { trees });
    roots.take(item, last.trace);
    onItem(item, last);
  }
  return last!;
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
    let { from, carried } = passed !== undefined && passed.from > nearest.from ? passed : nearest;
    for (; from <= item; from++) {
      // A proof about what an item takes from the item before opens both.
      const isNeeded = from >= item - 1;
      if (isNeeded) await run.stored.keep(from, carried);
      const execution = await executeItem(run.program, run.inputs.of(from, carried), execute);
      if (isNeeded) run.hold(from, execution);
      carried = carriedFrom(execution);
    }
    passed = { from, carried };
    await reached(item);
  }
}

/** The inputs of an item, for which the items from the nearest state on are executed. Nothing of them is held. */
export async function inputsOfItem(run: RunExecution, item: number, execute: Execute): Promise<readonly Uint8Array[]> {
  let { from, carried } = await run.before(item);
  for (; from < item; from++)
    carried = carriedFrom(await executeItem(run.program, run.inputs.of(from, carried), execute));
  return run.inputs.of(item, carried);
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
