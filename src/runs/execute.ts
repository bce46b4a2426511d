import type { MerkleList } from "../program/merkle/list.ts";
import type { CompiledModel } from "../program/compiled.ts";
import type { BlockInputs, BlockOptions, BlockResult } from "../executor/blocks/runBlock.ts";
import type { Program } from "../program/types.ts";
import type { RunInputs } from "../program/trace/runInputs.ts";
import type { Guess } from "../program/trace/runItems.ts";
import type { KnownProgram } from "../dispute/run/execution.ts";

/**
 * Executes a program: one tensor for each step, canonical little-endian bytes.
 * @param keep Steps whose tensors are asked for; others may be left out, as holes. Without it, all.
 * @param trees May be given the trees of checkpoints' tensors, where those are hashed on the way.
 */
export type Execute = {
  (
    model: CompiledModel,
    inputs: readonly Uint8Array[],
    keep?: (step: number) => boolean,
    trees?: Map<number, MerkleList>,
    order?: ExecutionOrder,
  ): Promise<Uint8Array[]>;
  /** Executes several items of a run that carries state, if separate requests for each item would take too long. */
  readonly stretch?: ExecuteStretch | undefined;
  /** Executes items of a run together, if this machine does. */
  readonly block?: ExecuteBlock | undefined;
  /** Executes items of different runs of a program together; absent where nothing does. */
  readonly apart?: ExecuteApart | undefined;
  /** Whether `block` takes items without guesses: see `isChain` of {@link Block}. */
  readonly chains?: boolean | undefined;
  /** When a text's next tokens are guessed from the text; never by default. */
  readonly lookup?: Lookup | undefined;
  /** A guess for the items in the only run to execute. */
  readonly guess?: Guess | undefined;
  /** Names where it computes now. Another name later means: the device named before was found wrong. */
  readonly device?: (() => string) | undefined;
};

/** Tokens are looked up at every chance, or while blocks with looked-up tokens pay. */
type Lookup = "always" | "where it pays";

/** Consecutive items of a run, with guesses of the carried tensors. */
type Block = {
  model: CompiledModel;
  /** The inputs of each item. The bytes must not lie in the memory of `trees`: there the items are hashed. */
  items: BlockInputs;
  /** The checkpoints whose carried tensors are guessed: other checkpoints count for the first item alone. */
  guessed: readonly number[];
  /** Whether no carried tensor is guessed: only a device that keeps them from item to item executes such a block. */
  isChain?: boolean;
} & BlockOptions;

/** @returns the items that count; none if blocks are not worth it for the program, or if the first guess was wrong */
export type ExecuteBlock = (block: Block, order?: ExecutionOrder) => Promise<BlockResult>;

/**
 * Executes items of different runs together.
 * @param items The inputs of each item.
 * @returns for each executed item the tensors that a run needs, by step: of the first items, up to the largest block;
 *   none for programs without such blocks
 */
export type ExecuteApart = (
  model: CompiledModel,
  items: BlockInputs,
  order?: ExecutionOrder,
) => Promise<readonly (readonly Uint8Array[])[]>;

/** The data that decide an execution's place in the queue, and its parallel executions. */
export type ExecutionOrder = {
  /** Whether other items of the same run are executed in parallel. */
  isOneOfMany?: boolean;
  /** Until when the result is useful, unix seconds: the earliest comes first. Infinity if absent. */
  due?: number;
  /** Whether money hangs on single bits: the CPU repeats each execution of this machine's GPU. */
  isDoubted?: boolean;
};

/** An item's result, for the steps whose tensors the run needs: outputs and carried state. */
export type ExecutedItem = { program: Program; tensor: (step: number) => Uint8Array };

/** Consecutive items of a run. Each item takes something from the previous item. */
export type Stretch = {
  program: KnownProgram;
  /** As of a run of their own. */
  inputs: RunInputs;
  /** The steps whose tensors are requested for the last item, in ascending order. */
  steps: readonly number[];
  /** For decoders, the tokens expected before the last item; a wrong text costs time and changes nothing. */
  text?: Uint8Array;
};

/** Asks somebody for an item's output: the answer may be wrong. */
export type AskOutput = (item: number, output: number) => Promise<Uint8Array | undefined>;

/** With fewer items, a block takes no less time than single items. */
export const MIN_ITEMS = 4;

/** The result of a stretch. */
export type StretchResult = {
  /** The stretch's roots, collected by `RootsOfItems` like a run's roots. */
  roots: Uint8Array;
  /** The last item's tensors by step, with holes. */
  tensors: readonly Uint8Array[];
};

/** Executes a stretch. */
export type ExecuteStretch = (stretch: Stretch, order?: ExecutionOrder) => Promise<StretchResult>;

type Around = <T>(action: (order?: ExecutionOrder) => Promise<T>, order?: ExecutionOrder) => Promise<T>;

/** The same way to execute, with something around each execution. */
export function around(execute: Execute, act: Around): Execute {
  const { stretch, block, apart, chains, lookup, guess, device } = execute;
  const one: Execute = (model, inputs, keep, trees, order) =>
    act((own) => execute(model, inputs, keep, trees, own), order);
  const many: ExecuteStretch | undefined = stretch && ((asked, order) => act((own) => stretch(asked, own), order));
  const together: ExecuteBlock | undefined = block && ((asked, order) => act((own) => block(asked, own), order));
  const several: ExecuteApart | undefined =
    apart && ((model, items, order) => act((own) => apart(model, items, own), order));
  return Object.assign(one, { stretch: many, block: together, apart: several, chains, lookup, guess, device });
}

/** Whether executions happen on a device other than the CPU. */
export const isOnGpu = ({ device }: Pick<Execute, "device">): boolean => (device?.() ?? "cpu") !== "cpu";

/**
 * Does something that takes several executions. If a device is found wrong meanwhile, everything is done again: no
 * result keeps an item from such a device.
 */
export async function onOneDevice<T>({ device }: Pick<Execute, "device">, action: () => Promise<T>): Promise<T> {
  const before = device?.();
  const result = await action();
  return device?.() === before ? result : onOneDevice({ device }, action);
}
