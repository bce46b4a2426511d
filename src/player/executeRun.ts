import { fromHash, type Hash } from "../merkle/hash.ts";
import { MerkleList } from "../merkle/list.ts";
import { concatenated } from "../merkle/concatenated.ts";
import { SuccessiveTrees } from "../executor/successiveTrees.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { RunInputs } from "../trace/runInputs.ts";
import { Trace } from "../trace/trace.ts";
import type { Execution, KnownProgram } from "./execution.ts";
import { carriedFrom, RunExecution, type Carried } from "./runExecution.ts";

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
) => Promise<Uint8Array[]>;

/**
 * A run that carries state keeps what so many of its items begin with, evenly spread: an item that a game needs is
 * executed again from the nearest of them.
 */
const SNAPSHOTS = 16;

/** Executes all items of a run. Of all but the last one the trace roots are kept, and what some of them begin with. */
export async function executeRun(program: KnownProgram, inputs: RunInputs, execute: Execute): Promise<RunExecution> {
  const { items } = inputs.length;
  const roots: Hash[] = [];
  const snapshots = new Map<number, Carried>();
  const interval = Math.ceil(items / SNAPSHOTS);
  const trees = new SuccessiveTrees();
  let last: Execution | undefined;
  for (let item = 0; item < items; item++) {
    const carried = last === undefined ? new Map<number, Uint8Array>() : carriedFrom(last);
    if (item > 0 && item % interval === 0 && carried.size > 0) snapshots.set(item, carried);
    // What is kept, or handed to a snapshot, has memory of its own and is hashed in full.
    const isKept = item === items - 1 || (item + 1) % interval === 0;
    last = await executeItem(program, inputs.of(item, carried), execute, isKept ? undefined : trees);
    roots.push(last.trace.root);
  }
  const list = new MerkleList(concatenated(roots.map(fromHash)));
  return new RunExecution(program, inputs, list, last!, snapshots);
}

/**
 * Executes items of a run again, and has the run hold them. Items that carry state are executed in one sweep, so that
 * none is executed twice.
 */
export async function executeItems(run: RunExecution, items: readonly number[], execute: Execute): Promise<void> {
  const wanted = new Set(run.missing(items));
  let reached: { from: number; carried: Carried } | undefined;
  for (const item of [...wanted].sort((a, b) => a - b)) {
    const nearest = run.before(item);
    let { from, carried } = reached !== undefined && reached.from > nearest.from ? reached : nearest;
    for (; from <= item; from++) {
      const execution = await executeItem(run.program, run.inputs.of(from, carried), execute);
      if (from === item) run.hold(item, execution);
      carried = carriedFrom(execution);
    }
    reached = { from, carried };
  }
}

/** The execution of an item: the one that is held, or one made for this alone. */
export async function itemOf(run: RunExecution, item: number, execute: Execute): Promise<Execution> {
  if (run.missing([item]).length === 0) return run.item(item);
  let { from, carried } = run.before(item);
  for (; from < item; from++)
    carried = carriedFrom(await executeItem(run.program, run.inputs.of(from, carried), execute));
  return executeItem(run.program, run.inputs.of(item, carried), execute);
}

/** @param trees Receives the trees. With {@link SuccessiveTrees} the execution holds until the next one over them. */
async function executeItem(
  program: KnownProgram,
  inputs: readonly Uint8Array[],
  execute: Execute,
  trees = new Map<number, MerkleList>(),
): Promise<Execution> {
  const { model } = program;
  const checkpoints = new Set(model.program.checkpoints.map(({ step }) => step));
  // An `execute` that hashes nothing leaves them empty.
  trees.clear();
  const tensors = await execute(model, inputs, (step) => checkpoints.has(step), trees);
  return { ...program, inputs, trace: new Trace(model.program, tensors, trees) };
}
