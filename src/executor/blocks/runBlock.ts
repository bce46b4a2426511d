import { HASH_BYTES } from "../../program/merkle/sizes.ts";
import type { BytesOfTensor } from "../../program/merkle/changes.ts";
import { MerkleList } from "../../program/merkle/list.ts";
import type { Carried } from "../../program/trace/runItems.ts";
import { bytesOf } from "../../program/trace/runInputs.ts";
import type { Program } from "../../program/types.ts";
import { checkInputs } from "../sources.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { Machine, Operation } from "../machine.ts";
import type { ProgramPlan } from "../plan/planProgram.ts";
import type { SuccessiveTrees } from "../successiveTrees.ts";
import type { HashJob } from "../threads/hashJob.ts";
import type { SharedWork } from "../threads/splitWork.ts";
import { writeTensor } from "../writeTensor.ts";
import type { BlockPart } from "./blockProgram.ts";

/** The items of a block that count: those whose inputs were the right ones. */
export type BlockResult = {
  items: readonly BlockItem[];
  /** What the item behind them takes, by input. Empty without items. */
  carried: Carried;
  /** Whether a guess was wrong: then not all items count, perhaps none. */
  isWrong: boolean;
};

/** An item of a block. */
type BlockItem = {
  /** The trace's list, if trees were asked for. */
  list: MerkleList | undefined;
  /** The tensors of the outputs' steps, by step, in memory of their own. */
  tensors: readonly Uint8Array[];
};

/** The inputs of consecutive items. Carried tensors that nobody guesses are read of the first item alone. */
export type BlockInputs = readonly (readonly Uint8Array[])[];

/** How a block is executed. */
export type BlockOptions = {
  /** Receives nothing, but lets each item be hashed where the item differs from the item before. */
  trees?: SuccessiveTrees | undefined;
  /**
   * Whether guesses are often wrong: each item's carried tensors are kept, and a wrong guess costs no second pass.
   */
  isUnsure?: boolean | undefined;
};

/** An executor's means. With parts for items of different runs, `model` has the program of such items. */
type Means = {
  model: CompiledModel;
  /** From small to large. */
  parts: readonly BlockPart[];
  guessed: readonly number[];
  plan: ProgramPlan;
  machine: Machine;
  shared: SharedWork;
  operations: readonly Operation[];
};

/** With fewer items than this part of a block, a smaller block is taken, or single items. */
const FILLED = 0.6;

/** The most bytes kept from a block with unsure guesses: carried tensors, for each item; and from other blocks. */
const [KEPT_BYTES, FEW_BYTES] = [2 ** 28, 2 ** 22];

/**
 * Executes a block of items: as many of the given ones as fit. If a guess is wrong, the items before it are executed
 * once more, if they are many: a shorter block ends with what the first wrong item must take. Where each item's carried
 * tensors are kept, the items count without another pass.
 * @param hashes Receives the items one over the other.
 */
export async function runBlock(
  means: Means,
  items: BlockInputs,
  hashes: HashJob | undefined,
  isUnsure = false,
): Promise<BlockResult> {
  for (const inputs of items) checkInputs(means.model, inputs);
  const { parts } = means;
  if (parts.length === 0) return { items: [], carried: new Map(), isWrong: false };
  const fitting = fittingPart(parts, items.length);
  const length = Math.min(items.length, fitting.items);
  const changed = new Set([...fitting.made.values()].map(({ changes }) => changes));
  const bytes = means.model.program.inputs.reduce(
    (sum, input, k) => sum + (input.source?.kind === "carried" && !changed.has(k) ? bytesOf(input) : 0),
    0,
  );
  const keepsAll = length * bytes <= (isUnsure ? KEPT_BYTES : FEW_BYTES);
  const { counted, carried, ...block } = await runPart(means, fitting, items.slice(0, length), hashes, keepsAll);
  if (counted === length) return { ...block, carried, isWrong: false };
  if (keepsAll) return { items: block.items.slice(0, counted), carried, isWrong: true };
  const shorter = parts.find((part) => part.items >= counted)!;
  if (counted < FILLED * shorter.items) return { items: [], carried: new Map(), isWrong: true };
  const again = await runPart(means, shorter, items.slice(0, counted), hashes, false);
  return { items: again.items, carried: again.carried, isWrong: true };
}

/** Returns the shortest part that takes all items, if the items nearly fill the part; otherwise one that they fill. */
function fittingPart(parts: readonly BlockPart[], count: number): BlockPart {
  const whole = parts.find((part) => part.items >= count);
  if (whole !== undefined && count >= FILLED * whole.items) return whole;
  return parts.findLast((part) => part.items <= count) ?? parts[0]!;
}

/**
 * Executes items of different runs: as many of the given ones as fit.
 * @returns the tensors of the steps that a run needs, by step, for each executed item; none without blocks for them
 */
export async function runApart(means: Means, items: BlockInputs): Promise<readonly (readonly Uint8Array[])[]> {
  return (await runBlock(means, items, undefined)).items.map(({ tensors }) => tensors);
}

/**
 * One pass over a block. Items before `counted` are right.
 * @param keepsAll Whether the carried tensors are kept after each item, instead of after the last one. Tensors that are
 *   changed in place need not be kept: the changes are undone.
 * @returns `carried`: the tensors for the item behind the last right item; incomplete if not kept
 */
async function runPart(
  { model, guessed, plan, machine, shared, operations }: Means,
  part: BlockPart,
  items: BlockInputs,
  hashes: HashJob | undefined,
  keepsAll: boolean,
): Promise<Pick<BlockResult, "items" | "carried"> & { counted: number }> {
  const { program } = model;
  const { views, clock } = machine;
  const last = items.length - 1;
  part.inputs.forEach(({ index, isEach }, k) => {
    const { dtype } = program.inputs[k]!;
    const { address } = plan.inputs[index]!;
    // The margin of an item's bytes is the beginning of the next one's: those are written later.
    for (let item = 0; item < (isEach ? part.items : 1); item++) {
      const bytes = items[Math.min(item, last)]![k]!;
      writeTensor(machine, bytes, address + item * bytes.length, dtype);
    }
  });
  // From this point, the inputs' bytes may be overwritten, except those that are guessed.
  hashes?.begin();
  const { checkpoints } = program;
  const checkpointOf = new Map(checkpoints.map(({ step }, c) => [step, c]));
  const guessOf = new Map(guessed.map((c) => [checkpoints[c]!.step, inputsFrom(program, c)]));
  const outputs = new Set(program.outputs.map((c) => checkpoints[c]!.step));
  const roots = items.map(() => new Uint8Array(checkpoints.length * HASH_BYTES));
  const tensors = items.map((): Uint8Array[] => []);
  const carried = items.map(() => new Map<number, Uint8Array>());
  const changes: Change[] = [];
  let counted = items.length;
  for (let s = part.from; s < part.to; s++) {
    const made = part.made.get(s);
    const checkpoint = made && checkpointOf.get(made.step);
    const changed = made?.changes === undefined ? undefined : changedBytes(plan, machine, s);
    for (const { from, to } of changed ?? []) {
      const address = plan.tensors[s]!.address + from;
      changes.push({ item: made!.item, address, before: Uint8Array.from(views.part(address, to - from)) });
    }
    if (checkpoint !== undefined || !plan.optional.has(s)) {
      const parts = shared.operationsOf(s);
      const pending = parts === undefined ? operations[s]!() : shared.compute(s, parts);
      if (pending !== undefined) await pending;
    }
    if (checkpoint === undefined) continue;
    const { step, item: first, items: count } = made!;
    const { address, bytes } = plan.tensors[s]!;
    const size = bytes / Math.max(1, count);
    const end = count === 0 ? items.length : Math.min(first + count, items.length);
    let root: Uint8Array = new Uint8Array();
    for (let item = first; item < end; item++) {
      const tensor = views.part(count === 0 ? address : address + (item - first) * size, size);
      if (hashes !== undefined) {
        clock.enter("compare");
        if (count > 0 || item === first) root = hashes.putAtOnce(checkpoint, tensor, changed);
        roots[item]!.set(root, checkpoint * HASH_BYTES);
        clock.enter("other");
      }
      if (outputs.has(step)) tensors[item]![step] = Uint8Array.from(tensor);
      if (item < last && guessOf.get(step)?.some((k) => !areEqual(items[item + 1]![k]!, tensor)) === true)
        counted = Math.min(counted, item + 1);
      if (changed === undefined && item < counted && (keepsAll || (item === last && counted === items.length)))
        for (const k of inputsFrom(program, checkpoint)) carried[item]!.set(k, Uint8Array.from(tensor));
    }
  }
  hashes?.end();
  const results = items.map((_, item): BlockItem => ({
    list: hashes && new MerkleList(roots[item]!),
    tensors: tensors[item]!,
  }));
  const taken = carried[counted - 1]!;
  for (const { item, address, before } of changes.reverse()) if (item >= counted) views.bytes.set(before, address);
  for (const { changes: input, item } of part.made.values()) {
    if (input === undefined || item > 0) continue;
    const { address, bytes } = plan.inputs[part.inputs[input]!.index]!;
    taken.set(input, Uint8Array.from(views.part(address, bytes)));
  }
  return { items: results, carried: taken, counted };
}

/** The old bytes of a change in place. */
type Change = { item: number; address: number; before: Uint8Array };

/** Returns the bytes of a step's tensor before the step changes the tensor. */
const changedBytes = ({ steps, tensors }: ProgramPlan, machine: Machine, s: number): readonly BytesOfTensor[] =>
  steps[s]!.changes?.(machine) ?? [{ from: 0, to: tensors[s]!.bytes }];

/** The inputs that are carried from a checkpoint. */
const inputsFrom = ({ inputs }: Program, checkpoint: number): number[] =>
  inputs.flatMap(({ source }, k) => (source?.kind === "carried" && source.checkpoint === checkpoint ? [k] : []));

const areEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
